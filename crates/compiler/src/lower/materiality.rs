//! What counts as a change, as far as code understands the words.
//!
//! The default is that everything counts. A wrong reading here is worse than none: a field that is
//! dropped by mistake is a change that nobody hears of. So only plain forms are read.

use std::{collections::HashSet, ops::Range};

use prose_contract::Prose;
use prose_ir::{Rule, RuleKind};

use crate::words::{contains_phrase, find_phrase, sentences};

/// Freshness state: it drives the clock and is no change by itself.
pub(crate) const VALID_UNTIL: &str = "valid_until";

/// Where a sentence stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Shared,
    Facet,
}

/// What was read of one region.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Dropped in this region.
    pub(crate) immaterial: Vec<String>,
    /// Dropped in every region.
    pub(crate) everywhere: Vec<String>,
    /// The only members that count, when any are named.
    pub(crate) only: Vec<String>,
    /// Members that some facet counts.
    pub(crate) material_anywhere: Vec<String>,
    pub(crate) rules: Vec<Rule>,
    /// Where immateriality is said without naming a field.
    pub(crate) vague: Vec<Range<usize>>,
}

/// Whether a name can be that of a member of the truth.
pub(crate) fn is_field(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

impl Reading {
    pub(crate) fn read(&mut self, prose: &Prose, place: Place) {
        let text = prose.text.as_str();
        if !speaks_of_equality(text) {
            return;
        }
        let says_material = place == Place::Facet && material_colon(text).is_some();
        for sentence in sentences(text) {
            if says_material {
                self.material(prose, sentence.clone());
            }
            for clause in clauses(text, sentence) {
                self.clause(prose, clause, place);
            }
        }
    }

    /// To be called once everything is read.
    pub(crate) fn settle(&mut self) {
        for list in [&mut self.immaterial, &mut self.everywhere, &mut self.only] {
            dedup(list);
        }
        if self.rules.len() > 1 {
            let mut seen = HashSet::new();
            self.rules.retain(|rule| seen.insert(format!("{rule:?}")));
        }
    }

    /// The names to drop everywhere, taken out of the reading.
    pub(crate) fn take_dropped(&mut self, valid_until: bool) -> Vec<String> {
        let mut dropped = std::mem::take(&mut self.immaterial);
        dropped.append(&mut self.everywhere);
        if valid_until && !self.material_anywhere.iter().any(|m| m == VALID_UNTIL) {
            dropped.push(VALID_UNTIL.to_owned());
        }
        dropped.sort();
        dropped.dedup();
        dropped
    }

    /// `Material: ...` names the members that count; so does any later sentence that calls them
    /// material.
    fn material(&mut self, prose: &Prose, sentence: Range<usize>) {
        let text = &prose.text[sentence.clone()];
        let Some(at) = find_phrase(text, "material", 0) else { return };
        if contains_phrase(&text[..at], "not") || contains_phrase(text, "immaterial") {
            return;
        }
        let except = ["except", "except for", "other than", "excluding", "all but", "but not"];
        let limit =
            except.iter().filter_map(|w| find_phrase(text, w, 0)).min().unwrap_or(text.len());
        self.only.extend(names(prose, sentence.start..sentence.start + limit));
        self.immaterial.extend(names(prose, sentence.start + limit..sentence.end));
    }

    fn clause(&mut self, prose: &Prose, clause: Range<usize>, place: Place) {
        let text = &prose.text[clause.clone()];
        if let Some(found) = dropped(prose, &clause) {
            let everywhere = place == Place::Facet && contains_phrase(text, "everywhere");
            if found.is_empty() {
                self.vague.push(prose.span.clone());
            }
            let list = if everywhere { &mut self.everywhere } else { &mut self.immaterial };
            list.extend(found);
        }
        self.rules(prose, &clause);
    }

    fn rules(&mut self, prose: &Prose, clause: &Range<usize>) {
        let text = &prose.text[clause.clone()];
        for (sign, kind) in [
            ("(unordered)", RuleKind::Unordered),
            ("(set)", RuleKind::Unordered),
            ("(exact)", RuleKind::Exact),
            ("case-insensitive", RuleKind::CaseInsensitive),
        ] {
            for at in places(text, sign) {
                self.rule(prose, clause.start, clause.start + at, kind.clone());
            }
        }
        for sign in ["to the nearest ", "rounded to "] {
            for at in places(text, sign) {
                if let Some(quantum) = number(&text[at + sign.len()..]) {
                    self.rule(prose, clause.start, clause.start + at, RuleKind::Quantum(quantum));
                }
            }
        }
    }

    /// A normalization belongs to the name before it, unless a comma or `and` stands between.
    fn rule(&mut self, prose: &Prose, from: usize, at: usize, kind: RuleKind) {
        let named = prose.codes_in(from..at).rev().find(|(_, code)| is_field(code));
        let field = named
            .filter(|(m, _)| {
                let between = &prose.text[m.range.end..at];
                !between.contains(',') && !contains_phrase(between, "and")
            })
            .map(|(_, code)| code.to_owned());
        self.rules.push(Rule { field, kind });
    }
}

/// A quick look, since most prose says nothing about equality.
fn speaks_of_equality(text: &str) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len()).any(|at| {
        let rest = &bytes[at..];
        match bytes[at] {
            b'a' => rest.starts_with(b"aterial"),
            b'f' => rest.starts_with(b"fingerprint"),
            b'(' => [&b"(unordered)"[..], b"(set)", b"(exact)"].iter().any(|s| rest.starts_with(s)),
            b'n' => rest.starts_with(b"nearest"),
            b'r' => rest.starts_with(b"rounded"),
            b'c' => rest.starts_with(b"case-insensitive"),
            _ => false,
        }
    })
}

/// Where `sign` stands. Most texts hold none, which is found out before a search is set up.
fn places<'t>(text: &'t str, sign: &'static str) -> impl Iterator<Item = usize> + 't {
    let hits = text.contains(sign).then(|| text.match_indices(sign).map(|(at, _)| at));
    hits.into_iter().flatten()
}

fn material_colon(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = find_phrase(text, "material", from) {
        if text[at + "material".len()..].starts_with(':') {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// The names a clause drops: `None` when it says nothing of the kind, empty when it names none.
fn dropped(prose: &Prose, clause: &Range<usize>) -> Option<Vec<String>> {
    let text = &prose.text[clause.clone()];
    let excluded = "excluded from the fingerprint";
    let (at, sign) = ["immaterial", excluded]
        .into_iter()
        .find_map(|sign| Some((find_phrase(text, sign, 0)?, sign)))?;
    let before = text[..at].trim_end();
    if ["not", "never", "nothing", "none", "no"].iter().any(|w| contains_phrase(before, w)) {
        return None;
    }
    let rest = text[at + sign.len()..].trim_start();
    let rest =
        ["(everywhere)", "everywhere"].iter().find_map(|w| rest.strip_prefix(w)).unwrap_or(rest);
    if rest.trim_start().starts_with(':') {
        return Some(names(prose, clause.start + at..clause.end).collect());
    }
    let copula = [" is", " are"].iter().any(|w| before.ends_with(w));
    let described = clause.start == 0 && before.trim_end_matches(" an").ends_with(['—', '–', ':']);
    (copula || described).then(|| names(prose, clause.start..clause.start + at).collect())
}

/// The members named in backticks within `range`; of a path, its last part.
fn names(prose: &Prose, range: Range<usize>) -> impl Iterator<Item = String> + '_ {
    let last = |code: &str| code.rsplit('.').next().unwrap_or_default().to_owned();
    prose.codes_in(range).map(move |(_, code)| last(code)).filter(|name| is_field(name))
}

/// The clauses of a sentence: what stands between semicolons and adversatives.
fn clauses(text: &str, sentence: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let bytes = &text.as_bytes()[..sentence.end];
    let mut start = Some(sentence.start);
    std::iter::from_fn(move || {
        let from = start?;
        let cut = (from..bytes.len()).find_map(|at| Some((at, cut(&bytes[at..])?)));
        start = cut.map(|(at, length)| at + length);
        Some(from..cut.map_or(bytes.len(), |(at, _)| at))
    })
}

/// The length of what separates two clauses, if `rest` begins with it.
fn cut(rest: &[u8]) -> Option<usize> {
    match rest.first()? {
        b';' => Some(1),
        b' ' => {
            let words: [&[u8]; 3] = [b" but ", b" while ", b" whereas "];
            words.iter().find(|word| rest.starts_with(word)).map(|word| word.len())
        }
        _ => None,
    }
}

fn number(text: &str) -> Option<f64> {
    let digits = text.trim_start_matches('`');
    let end = digits.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(digits.len());
    let value: f64 = digits[..end].trim_end_matches('.').parse().ok()?;
    (value.is_finite() && value > 0.0).then_some(value)
}

/// Keeps the first of equal entries.
fn dedup(names: &mut Vec<String>) {
    if names.len() < 2 {
        return;
    }
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
}
