//! The declared shape of a truth: fields, facets, and the names it goes by.

use std::{collections::HashSet, ops::Range};

use prose_contract::{Block, Part, Prose, Section, SectionKind};
use prose_ir::{Canonicalizer, FacetSpec};

use super::{Unit, materiality};
use crate::words;

/// `### Maintains`, lowered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Maintains {
    /// Declared shared fields in order.
    pub(crate) fields: Vec<String>,
    /// Those of them that every truth must have.
    pub(crate) required: Vec<String>,
    pub(crate) facets: Vec<Facet>,
    /// What the truth is called: `` The `CountSummary` world-model ``, `` `GateLedger`: ... ``.
    pub(crate) aliases: Vec<String>,
}

/// One declared facet.
#[derive(Debug, Clone)]
pub(crate) struct Facet {
    pub(crate) name: String,
    /// The name as names are compared.
    pub(crate) key: String,
    /// Where its heading stands.
    pub(crate) span: Range<usize>,
    /// Whether anything in its body tells what to fingerprint.
    pub(crate) is_backed: bool,
}

impl Facet {
    /// For `user:<login>`, the key of the region: `user`.
    pub(crate) fn family(&self) -> Option<&str> {
        family(&self.name)
    }

    /// The key of the facet's region in the truth.
    pub(crate) fn region(&self) -> &str {
        self.family().unwrap_or(&self.name)
    }
}

/// `user:<login>` declares one facet for each login: the prefix, when `name` is such a family.
pub(crate) fn family(name: &str) -> Option<&str> {
    let (prefix, rest) = name.split_once(':')?;
    let is_placeholder = rest.starts_with('<') && rest.ends_with('>') && rest.len() > 2;
    (is_placeholder && !prefix.is_empty()).then_some(prefix)
}

/// Bullets that speak about fields instead of declaring one.
const REMARKS: [&str; 5] = ["material", "immaterial", "postcondition", "postconditions", "note"];

pub(crate) fn lower(unit: Unit) -> Maintains {
    let mut maintains = Maintains::default();
    let mut seen = HashSet::new();
    for section in unit.entry.sections(SectionKind::Maintains) {
        let (shared, parts) = section.parts();
        for block in shared {
            match block {
                Block::Item { depth: 1, prose } => field(prose, &mut maintains, &mut seen),
                Block::Paragraph(prose) => {
                    maintains.aliases.extend(alias(prose).map(str::to_owned));
                }
                _ => {}
            }
        }
        maintains.facets.extend(parts.iter().map(facet));
    }
    maintains
}

fn facet(part: &Part) -> Facet {
    Facet {
        name: part.heading.text.clone(),
        key: words::key(&part.heading.text),
        span: part.heading.span.clone(),
        is_backed: part.blocks.iter().any(is_backing),
    }
}

/// Whether a block of a facet's body tells what to fingerprint.
fn is_backing(block: &Block) -> bool {
    match block {
        Block::Fence(_) => true,
        Block::Heading { .. } => false,
        Block::Paragraph(prose) | Block::Item { prose, .. } => {
            prose.codes().next().is_some()
                || prose.item().is_some()
                || is_backing_text(&prose.text.to_ascii_lowercase())
        }
    }
}

fn is_backing_text(text: &str) -> bool {
    let signs = ["material", "fingerprint", "field", " set", "count", "list"];
    signs.iter().any(|sign| text.contains(sign))
}

fn field<'a>(prose: &'a Prose, maintains: &mut Maintains, seen: &mut HashSet<&'a str>) {
    let Some(item) = prose.item() else { return };
    if item.names.iter().any(|name| REMARKS.iter().any(|r| name.eq_ignore_ascii_case(r))) {
        return;
    }
    let optional = item.text.contains("(optional)");
    for name in item.names.into_iter().filter(|name| materiality::is_field(name)) {
        if seen.insert(name) {
            maintains.fields.push(name.to_owned());
            if !optional {
                maintains.required.push(name.to_owned());
            }
        }
    }
}

fn alias(prose: &Prose) -> Option<&str> {
    let (mark, code) = prose.codes().next()?;
    let rest = prose.text[mark.range.end..].trim_start();
    let before = prose.text[..mark.range.start].trim_end();
    let is_title = mark.range.start == 0 && rest.starts_with(':');
    let is_model = (before.is_empty() || before.eq_ignore_ascii_case("the"))
        && ["world-model", "world model", "truth"].iter().any(|w| rest.starts_with(w));
    let is_apposition =
        rest.starts_with('—') && (before.eq_ignore_ascii_case("the") || before.is_empty());
    (is_title || is_model || is_apposition).then_some(code)
}

/// The canonicalizer of a node.
pub(crate) fn canonicalizer(
    unit: Unit,
    maintains: &Maintains,
    notes: &mut Vec<prose_contract::Diagnostic>,
) -> Canonicalizer {
    let mut shared = materiality::Reading::default();
    for section in unit.entry.sections(SectionKind::Maintains) {
        for prose in shared_prose(section) {
            shared.read(prose, materiality::Place::Shared);
        }
    }
    let mut facets = Vec::with_capacity(maintains.facets.len());
    let parts = unit.entry.sections(SectionKind::Maintains).flat_map(|s| s.parts().1);
    for (facet, part) in maintains.facets.iter().zip(parts) {
        let mut own = materiality::Reading::default();
        for prose in part.blocks.iter().filter_map(Block::prose) {
            own.read(prose, materiality::Place::Facet);
        }
        own.settle();
        shared.everywhere.append(&mut own.everywhere);
        shared.vague.append(&mut own.vague);
        shared.material_anywhere.extend(own.only.iter().cloned());
        facets.push(FacetSpec {
            name: facet.name.clone(),
            family: facet.family().map(str::to_owned),
            only: (!own.only.is_empty()).then_some(own.only),
            immaterial: own.immaterial,
            rules: own.rules,
        });
    }
    shared.settle();
    for span in &shared.vague {
        notes.push(
            unit.diagnostic(
                prose_contract::Code::MaterialityInProse,
                span.clone(),
                "what is immaterial is said only in words; everything stays material",
            )
            .help("name the fields in backticks"),
        );
    }
    Canonicalizer {
        version: prose_ir::ARTIFACT_VERSION,
        node: unit.name().to_owned(),
        immaterial: shared.take_dropped(mentions_valid_until(unit)),
        rules: shared.rules,
        facets,
    }
}

fn shared_prose(section: &Section) -> impl Iterator<Item = &Prose> {
    section.shared().iter().filter_map(Block::prose)
}

/// Whether the contract itself speaks of `valid_until`.
fn mentions_valid_until(unit: Unit) -> bool {
    [SectionKind::Maintains, SectionKind::Continuity]
        .into_iter()
        .flat_map(|kind| unit.entry.sections(kind))
        .flat_map(|s| s.prose())
        .any(|prose| prose.text.contains(materiality::VALID_UNTIL))
}
