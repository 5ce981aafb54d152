//! The contract fingerprint: what a contract means, and nothing of how it is set.

use std::{collections::BTreeSet, fmt::Write};

use prose_contract::{Block, Entry, Section, SectionKind};
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
    /// Room for the text that is hashed, kept from one contract to the next.
    text: String,
}

impl<'f, 'a> Fingerprints<'f, 'a> {
    pub(crate) fn new(functions: &'f Functions<'a>) -> Self {
        let mut text = String::new();
        let own = functions.units.iter().map(|unit| alone(*unit, &mut text)).collect();
        Self { functions, own, text }
    }

    /// Of a node that calls the functions `called`. They enter as the set of all that can be
    /// reached, so that functions which call each other need no order.
    pub(crate) fn of(&mut self, unit: Unit, called: &BTreeSet<FunctionId>) -> Fingerprint {
        meaning(unit, &mut self.text);
        let called = called.iter();
        let mut called: Vec<_> =
            called.map(|id| (self.functions.units[*id].name(), self.own[*id].as_str())).collect();
        called.sort_unstable();
        for (name, fingerprint) in called {
            line(&mut self.text, "call", name);
            line(&mut self.text, "is", fingerprint);
        }
        Fingerprint::of(self.text.as_bytes())
    }
}

/// Of a function, or of a node that calls none. `text` is room for what is hashed.
pub(crate) fn alone(unit: Unit, text: &mut String) -> Fingerprint {
    meaning(unit, text);
    Fingerprint::of(text.as_bytes())
}

/// Replaces `text` by the normalized text of an entry: one line for each block, sections in a fixed
/// order.
fn meaning(unit: Unit, text: &mut String) {
    text.clear();
    line(text, "semantics", SEMANTICS);
    line(text, "kind", unit.entry.kind.map_or("", |k| k.as_str()));
    let id = unit.file.id.as_deref().filter(|_| !unit.entry.inline);
    line(text, "identity", id.unwrap_or_else(|| unit.name()));
    sections(unit.entry, text);
}

fn sections(entry: &Entry, text: &mut String) {
    let counts = |s: &&Section| !matches!(s.kind, SectionKind::Unknown | SectionKind::Description);
    let mut sections: Vec<&Section> = entry.sections.iter().filter(counts).collect();
    // Sections of one kind stay in order and count as one.
    sections.sort_by_key(|s| s.kind);
    for same in sections.chunk_by(|a, b| a.kind == b.kind) {
        line(text, "section", same[0].kind.as_str());
        for block in same.iter().flat_map(|s| &s.blocks) {
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
            // Writing to a string cannot fail.
            let _ = write!(text, "- {depth} ");
            prose.normalized(text);
        }
        Block::Heading { level, prose } => {
            let _ = write!(text, "# {level} ");
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
