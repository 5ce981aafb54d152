//! The compiled canonicalizer: from a document to the tokens that say what moved.

mod normalize;
mod region;
mod rules;

use std::collections::{BTreeMap, BTreeSet};

use prose_ir::{ARTIFACT_VERSION, ATOMIC, Fingerprint};
use serde_json::{Map, Value, json};

pub use region::{region, region_key};
use rules::Rules;

use crate::json::canonical;

/// Stands before everything hashed into a token, so that a change of the canonical form is a
/// change of every token, never a silent collision of old and new meaning.
const FORM: &str = "prose.truth.v1";

/// A canonicalization spec made ready to run.
#[derive(Debug, Clone)]
pub struct Canonicalizer {
    shared: Rules,
    facets: Vec<Facet>,
    regions: BTreeSet<String>,
}

#[derive(Debug, Clone)]
struct Facet {
    name: String,
    region: String,
    is_family: bool,
    rules: Rules,
}

/// Why a spec cannot be run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CanonicalizerError {
    /// Written by another version of the program.
    #[error("the canonicalizer has version {0}; this program reads {ARTIFACT_VERSION}")]
    Version(u32),
    /// A quantum that nothing can be rounded to.
    #[error("the quantum {0} is not positive and finite")]
    Quantum(f64),
    /// Two facets over one region, or a facet with a reserved name.
    #[error("the facet `{0}` is declared twice or reserved")]
    Facet(String),
}

impl CanonicalizerError {
    /// Stable code for people and programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Version(_) => "canonicalizer_version",
            Self::Quantum(_) => "canonicalizer_quantum",
            Self::Facet(_) => "canonicalizer_facet",
        }
    }
}

impl Canonicalizer {
    /// Checks and prepares `spec`.
    ///
    /// # Errors
    /// When the spec breaks its own rules; the compiler never writes such a one.
    pub fn new(spec: &prose_ir::Canonicalizer) -> Result<Self, CanonicalizerError> {
        if spec.version != ARTIFACT_VERSION {
            return Err(CanonicalizerError::Version(spec.version));
        }
        let mut facets = Vec::with_capacity(spec.facets.len());
        let mut regions = BTreeSet::new();
        for facet in &spec.facets {
            let region = facet.family.as_ref().unwrap_or(&facet.name).clone();
            if facet.name == ATOMIC || !regions.insert(region.clone()) {
                return Err(CanonicalizerError::Facet(facet.name.clone()));
            }
            let immaterial = spec.immaterial.iter().chain(&facet.immaterial);
            facets.push(Facet {
                name: facet.name.clone(),
                region,
                is_family: facet.family.is_some(),
                rules: Rules::new(immaterial, facet.only.as_deref(), &facet.rules)?,
            });
        }
        Ok(Self { shared: Rules::new(spec.immaterial.iter(), None, &spec.rules)?, facets, regions })
    }

    /// The tokens of `document`: one for the whole, one for each declared facet, and for a family
    /// one for each member besides.
    ///
    /// A facet whose region is absent has a token too, which differs from that of any value. A
    /// family member has a token exactly while the document has it.
    pub fn fingerprints(&self, document: &Value) -> BTreeMap<String, Fingerprint> {
        let mut tokens = BTreeMap::new();
        let mut whole = Map::new();
        for facet in &self.facets {
            let region = document.get(&facet.region);
            let form = if facet.is_family {
                self.family(facet, region, &mut tokens)
            } else {
                material(region.map(|value| facet.rules.apply(value, Some(&facet.region))))
            };
            let kind = if facet.is_family { "family" } else { "facet" };
            tokens.insert(facet.name.clone(), token(kind, &form));
            whole.insert(facet.name.clone(), form);
        }
        let whole = json!({"shared": self.shared_form(document), "facets": whole});
        tokens.insert(ATOMIC.to_owned(), token("atomic", &whole));
        tokens
    }

    /// The shared fields, normalized. A document that is no object is one nameless shared field.
    fn shared_form(&self, document: &Value) -> Value {
        let Value::Object(members) = document else {
            return material(Some(self.shared.apply(document, None)));
        };
        let shared = members
            .iter()
            .filter(|(key, _)| !self.regions.contains(*key))
            .map(|(key, value)| (key.clone(), value.clone()));
        material(Some(self.shared.apply(&Value::Object(shared.collect()), None)))
    }

    /// The members' forms as one object. A member's name is data, never a field that could be
    /// immaterial.
    fn family(
        &self,
        facet: &Facet,
        region: Option<&Value>,
        tokens: &mut BTreeMap<String, Fingerprint>,
    ) -> Value {
        let Some(Value::Object(members)) = region else {
            return material(region.map(|value| facet.rules.apply(value, Some(&facet.region))));
        };
        let mut forms = Map::new();
        for (key, value) in members {
            let form = material(Some(facet.rules.apply(value, None)));
            let name = format!("{}:{key}", facet.region);
            tokens.insert(name, token("member", &form));
            forms.insert(key.clone(), form);
        }
        material(Some(Some(Value::Object(forms))))
    }
}

/// The facets whose tokens differ, sorted; one that only one side has differs too.
pub fn moved(
    before: &BTreeMap<String, Fingerprint>,
    after: &BTreeMap<String, Fingerprint>,
) -> Vec<String> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != after.get(*name)).cloned().collect()
}

/// Tells apart an absent region, a region with nothing material in it, and a material value.
fn material(form: Option<Option<Value>>) -> Value {
    match form {
        None => json!({"absent": true}),
        Some(None) => json!({}),
        Some(Some(value)) => json!({"value": value}),
    }
}

fn token(kind: &str, form: &Value) -> Fingerprint {
    let mut hasher = blake3::Hasher::new();
    hasher.update(FORM.as_bytes());
    hasher.update(b"\0");
    hasher.update(kind.as_bytes());
    hasher.update(b"\0");
    hasher.update(&canonical(form));
    Fingerprint::from_hash(hasher.finalize())
}
