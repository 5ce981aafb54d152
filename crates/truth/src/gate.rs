//! The gate: what a truth must satisfy before it is published.

use std::collections::BTreeMap;

use prose_ir::{Check, Judge, Postconditions, Structure};
use serde_json::Value;

use crate::expression::{self, Bindings};

/// Identifiers of structural checks begin like this; an author's check never does.
const STRUCTURE: &str = "structure";

/// A condition that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The check's id, or `structure:<name>` for a missing part.
    pub id: String,
    /// The condition in the author's words.
    pub text: String,
    /// Why it does not hold.
    pub reason: String,
}

/// Checks a candidate truth: structure, then deterministic conditions, then attestations.
///
/// Where structure is broken nothing else is checked, because the conditions speak about the
/// missing parts. A condition that cannot be evaluated is broken, never passed.
///
/// # Errors
/// Everything that does not hold, in order of declaration.
pub fn check(
    post: &Postconditions,
    self_: &Value,
    prior: Option<&Value>,
    inputs: &Value,
    attestations: &BTreeMap<String, bool>,
) -> Result<(), Vec<Broken>> {
    let missing = structure(&post.structure, self_);
    if !missing.is_empty() {
        return Err(missing);
    }
    let bindings = Bindings { self_, prior, inputs };
    let mut broken = deterministic(&post.checks, &bindings);
    broken.extend(attested(&post.checks, attestations));
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}

fn structure(structure: &Structure, document: &Value) -> Vec<Broken> {
    let Value::Object(members) = document else {
        return vec![Broken {
            id: STRUCTURE.to_owned(),
            text: "the truth reads as one JSON object".to_owned(),
            reason: "it does not".to_owned(),
        }];
    };
    let facets = structure.facets.iter().map(|name| ("facet", name));
    let fields = structure.fields.iter().map(|name| ("field", name));
    facets
        .chain(fields)
        .filter(|(_, name)| !members.contains_key(*name))
        .map(|(what, name)| Broken {
            id: format!("{STRUCTURE}:{name}"),
            text: format!("the truth has its declared {what} `{name}`"),
            reason: format!("the {what} `{name}` is missing"),
        })
        .collect()
}

fn deterministic(checks: &[Check], bindings: &Bindings<'_>) -> Vec<Broken> {
    let (checks, sources): (Vec<&Check>, Vec<&str>) = checks
        .iter()
        .filter_map(|check| match &check.judge {
            Judge::Cel(source) => Some((check, source.as_str())),
            Judge::Render => None,
        })
        .unzip();
    let verdicts = expression::evaluate_all(&sources, bindings);
    checks
        .into_iter()
        .zip(verdicts)
        .filter_map(|(check, verdict)| match verdict {
            Ok(true) => None,
            Ok(false) => Some(broken(check, "the condition is false".to_owned())),
            Err(error) => Some(broken(check, error.to_string())),
        })
        .collect()
}

fn attested<'a>(
    checks: &'a [Check],
    attestations: &'a BTreeMap<String, bool>,
) -> impl Iterator<Item = Broken> + 'a {
    checks.iter().filter(|check| check.judge == Judge::Render).filter_map(
        |check| match attestations.get(&check.id) {
            Some(true) => None,
            Some(false) => Some(broken(check, "the render attests that it fails".to_owned())),
            None => Some(broken(check, "the render did not attest it".to_owned())),
        },
    )
}

fn broken(check: &Check, reason: String) -> Broken {
    Broken { id: check.id.clone(), text: check.text.clone(), reason }
}
