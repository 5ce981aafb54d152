//! What must hold before a truth is published.

use prose_contract::{Block, Prose, SectionKind};
use prose_ir::{Check, Judge};

use super::Unit;
use crate::words::find_phrase;

/// A condition before it is decided who judges it.
pub(crate) struct Condition<'a> {
    pub(crate) check: Check,
    /// The one expression in backticks that speaks of the truth, if there is exactly one.
    pub(crate) expression: Option<&'a str>,
    pub(crate) prose: &'a Prose,
}

const SIGN: &str = "postcondition:";

pub(crate) fn lower<'a>(unit: Unit<'a>) -> Vec<Condition<'a>> {
    let mut found = Vec::new();
    for prose in unit.entry.sections(SectionKind::Maintains).flat_map(|s| s.prose()) {
        sentences(prose, &mut found);
    }
    for block in unit.entry.sections(SectionKind::Criteria).flat_map(|s| &s.blocks) {
        if let Block::Item { prose, .. } = block {
            found.push(condition(prose, 0, prose.text.len()));
        }
    }
    if found.len() > 1 {
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|condition| seen.insert(condition.check.id.clone()));
    }
    found
}

/// Each `Postcondition:` that begins a sentence, up to the next one.
fn sentences<'a>(prose: &'a Prose, found: &mut Vec<Condition<'a>>) {
    let text = prose.text.as_str();
    let mut starts = Vec::new();
    let mut from = 0;
    while let Some(at) = find_phrase(text, SIGN, from) {
        let before = text[..at].trim_end();
        if before.is_empty() || before.ends_with(['.', ';', '!', '?', ':', ')']) {
            starts.push(at);
        }
        from = at + SIGN.len();
    }
    for (i, start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(text.len());
        found.push(condition(prose, start + SIGN.len(), end));
    }
}

fn condition<'a>(prose: &'a Prose, start: usize, end: usize) -> Condition<'a> {
    let text = prose.text[start..end].trim().trim_end_matches(';').to_owned();
    let mut expressions =
        prose.codes_in(start..end).map(|(_, code)| code).filter(|code| speaks_of_truth(code));
    let first = expressions.next();
    let expression = first.filter(|_| expressions.next().is_none());
    Condition { check: Check { id: id(&text), text, judge: Judge::Render }, expression, prose }
}

/// Whether code in backticks is an expression rather than a name: it compares, combines or calls,
/// and has a path that begins at one of the three variables.
fn speaks_of_truth(code: &str) -> bool {
    let computes = code.contains(['(', '=', '<', '>', '!', '&', '|']) || code.contains(" in ");
    computes && ["self", "prior", "inputs"].iter().any(|root| begins_path(code, root))
}

fn begins_path(code: &str, root: &str) -> bool {
    let mut from = 0;
    while let Some(at) = find_phrase(code, root, from) {
        if code[at + root.len()..].starts_with(['.', '[']) && !code[..at].ends_with('.') {
            return true;
        }
        from = at + 1;
    }
    false
}

/// Stable under re-wrapping and emphasis, since the text is normalized already.
fn id(text: &str) -> String {
    let digits = blake3::hash(text.as_bytes()).to_hex();
    ["pc-", &digits[..12]].concat()
}
