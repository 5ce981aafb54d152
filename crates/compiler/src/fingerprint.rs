//! The contract fingerprint: what a contract means, and nothing of how it is set.

use std::collections::BTreeMap;

use prose_contract::{Block, Entry, SectionKind};
use prose_ir::Fingerprint;

use crate::{
    functions::{FunctionId, Functions},
    lower::Unit,
};

/// Belongs to the meaning: a change of the rules, or of the expression language, is a change of
/// every contract.
const SEMANTICS: &str = "prose-contract/1 cel/0.15.0";

/// Fingerprints of contracts, with those of functions kept.
pub(crate) struct Fingerprints<'f, 'a> {
    functions: &'f Functions<'a>,
    own: Vec<Fingerprint>,
}

impl<'f, 'a> Fingerprints<'f, 'a> {
    pub(crate) fn new(functions: &'f Functions<'a>) -> Self {
        let own =
            functions.units.iter().map(|unit| Fingerprint::of(meaning(*unit).as_bytes())).collect();
        Self { functions, own }
    }

    /// Of a node that calls `callees`. Functions enter as the set of all that can be reached, so
    /// that functions which call each other need no order.
    pub(crate) fn of(&self, unit: Unit, callees: &[FunctionId]) -> Fingerprint {
        let mut text = meaning(unit);
        let reached: Vec<_> = self.functions.closure(callees).into_iter().collect();
        let mut called: Vec<_> = reached
            .iter()
            .map(|id| (self.functions.units[*id].name(), self.own[*id].as_str()))
            .collect();
        called.sort_unstable();
        for (name, fingerprint) in called {
            line(&mut text, "call", name);
            line(&mut text, "is", fingerprint);
        }
        Fingerprint::of(text.as_bytes())
    }
}

/// The normalized text of an entry: one line for each block, sections in a fixed order.
fn meaning(unit: Unit) -> String {
    let mut text = String::with_capacity(unit.entry.span.len() + 64);
    line(&mut text, "semantics", SEMANTICS);
    line(&mut text, "kind", unit.entry.kind.map_or("", |k| k.as_str()));
    let id = unit.file.id.as_deref().filter(|_| !unit.entry.inline);
    line(&mut text, "identity", id.unwrap_or_else(|| unit.name()));
    sections(unit.entry, &mut text);
    text
}

fn sections(entry: &Entry, text: &mut String) {
    let mut by_kind: BTreeMap<SectionKind, Vec<&Block>> = BTreeMap::new();
    for section in &entry.sections {
        if !matches!(section.kind, SectionKind::Unknown | SectionKind::Description) {
            by_kind.entry(section.kind).or_default().extend(&section.blocks);
        }
    }
    for (kind, blocks) in by_kind {
        line(text, "section", kind.as_str());
        for block in blocks {
            self::block(block, text);
        }
    }
}

fn block(block: &Block, text: &mut String) {
    match block {
        Block::Paragraph(prose) => {
            text.push_str("p ");
            prose.normalized(text);
        }
        Block::Item { depth, prose } => {
            text.push_str("- ");
            text.push_str(&depth.to_string());
            text.push(' ');
            prose.normalized(text);
        }
        Block::Heading { level, prose } => {
            text.push_str("# ");
            text.push_str(&level.to_string());
            text.push(' ');
            prose.normalized(text);
        }
        Block::Fence(fence) => {
            line(text, "fence", &fence.language);
            for inner in fence.body.lines() {
                line(text, "|", inner.trim_end());
            }
            text.push_str("end");
        }
    }
    text.push('\n');
}

fn line(text: &mut String, name: &str, value: &str) {
    text.push_str(name);
    text.push(' ');
    text.push_str(value);
    text.push('\n');
}
