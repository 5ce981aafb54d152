//! Whom and what a need mentions, and what it rules out.

use std::ops::Range;

use prose_contract::{MarkKind, Prose};

use super::Index;
use crate::words::{self, find_phrase, key};

/// A name in backticks.
#[derive(Debug)]
pub(crate) struct Code<'a> {
    pub(crate) text: &'a str,
    pub(crate) key: String,
    pub(crate) range: Range<usize>,
    pub(crate) negated: bool,
}

/// What a need's words say.
pub(crate) struct Mentions<'a> {
    pub(crate) text: &'a str,
    pub(crate) codes: Vec<Code<'a>>,
    /// Where the first sentence ends.
    pub(crate) first: usize,
    tokens: Vec<(usize, &'a str)>,
    strong: Vec<Range<usize>>,
}

const NEGATIONS: [&str; 8] =
    ["not", "never", "without", "unlike", "no", "nor", "excluding", "except"];

impl<'a> Mentions<'a> {
    pub(crate) fn new(prose: &'a Prose) -> Self {
        let text = prose.text.as_str();
        let first = words::sentences(text).first().map_or(0, |s| s.end);
        let mut codes: Vec<Code> = Vec::new();
        for (mark, code) in prose.codes() {
            // A facet may be quoted as the heading that declares it.
            let code = code.trim_start_matches('#').trim_start();
            let negated = match codes.last() {
                Some(before) if is_joined(&text[before.range.end..mark.range.start]) => {
                    before.negated
                }
                _ => is_negated(text, mark.range.start),
            };
            codes.push(Code { text: code, key: key(code), range: mark.range.clone(), negated });
        }
        let strong = prose.marks.iter().filter(|m| m.kind == MarkKind::Strong);
        Self {
            text,
            codes,
            first,
            tokens: words::tokens(text).collect(),
            strong: strong.map(|m| m.range.clone()).collect(),
        }
    }

    /// The codes that are not ruled out.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = &Code<'a>> {
        self.codes.iter().filter(|c| !c.negated)
    }

    /// The codes of a remark "(Maintained by `x`, facet `y`.)" or "(A named facet of `x`.)".
    pub(crate) fn remark(&self) -> Option<Vec<&Code<'a>>> {
        for sign in ["maintained by", "facet of"] {
            let mut from = 0;
            while let Some(at) = find_phrase(self.text, sign, from) {
                from = at + sign.len();
                let end = self.text[from..].find([')', ';']).map_or(self.text.len(), |n| from + n);
                let codes: Vec<_> =
                    self.wanted().filter(|c| c.range.start >= from && c.range.end <= end).collect();
                if !codes.is_empty() {
                    return Some(codes);
                }
            }
        }
        None
    }

    /// Bold text of the whole need.
    pub(crate) fn strong(&self) -> impl Iterator<Item = &'a str> {
        self.strong.iter().map(|r| &self.text[r.clone()])
    }

    /// Nodes named in plain words: by a name or title of several words in the first sentence, or
    /// by one word where the grammar says that it is a producer ("from the inbox gateway", "the
    /// threader's `rollup`"). `from_only` leaves but what follows "from".
    pub(crate) fn in_words(&self, index: &Index, from_only: bool) -> Vec<usize> {
        let mut found = Vec::new();
        let limit = self.tokens.iter().take_while(|(at, _)| *at < self.first).count();
        let mut at = 0;
        while at < limit {
            let longest = index.longest().min(limit - at);
            let hit = (1..=longest)
                .rev()
                .find_map(|length| self.named(index, at, length, from_only).map(|n| (n, length)));
            match hit {
                Some((node, length)) => {
                    if !found.contains(&node) {
                        found.push(node);
                    }
                    at += length;
                }
                None => at += 1,
            }
        }
        found
    }

    fn named(&self, index: &Index, at: usize, length: usize, from_only: bool) -> Option<usize> {
        let (start, _) = self.tokens[at];
        let (last_at, last) = self.tokens[at + length - 1];
        let end = last_at + last.len();
        let phrase = &self.text[start..end];
        // A name does not run across a comma or a quotation.
        if length > 1 && phrase.contains([',', ';', '(', ')', '—']) || self.in_code(start) {
            return None;
        }
        let before = self.before(at);
        if from_only && before != Some("from") {
            return None;
        }
        let phrase_key = key(phrase.trim_end_matches("'s"));
        let is_one_word = !phrase_key.contains('-');
        if is_one_word && !self.is_producer(at, length, before) {
            return None;
        }
        let node = index.node_or_title(&phrase_key)?;
        (!is_negated(self.text, start)).then_some(node)
    }

    /// Whether one plain word stands where only a producer can stand.
    fn is_producer(&self, at: usize, length: usize, before: Option<&str>) -> bool {
        let (last_at, last) = self.tokens[at + length - 1];
        let possessive = self.text[last_at + last.len()..].starts_with(['\'', '’']);
        let next = self.tokens.get(at + length).map(|(_, w)| *w).unwrap_or_default();
        let titled = ["gateway", "node", "responsibility", "producer"]
            .iter()
            .any(|w| next.eq_ignore_ascii_case(w));
        possessive || titled || matches!(before, Some("from" | "by"))
    }

    /// The word before, over an article.
    fn before(&self, at: usize) -> Option<&'a str> {
        let previous = at.checked_sub(1).map(|i| self.tokens[i].1)?;
        if ["the", "a", "an", "its"].iter().any(|w| previous.eq_ignore_ascii_case(w)) {
            return at.checked_sub(2).map(|i| self.tokens[i].1);
        }
        Some(previous)
    }

    fn in_code(&self, at: usize) -> bool {
        self.codes.iter().any(|c| c.range.contains(&at))
    }

    /// Whether the need names this facet in plain words of its first sentence: outright ("the
    /// open-repairs facet"), and not ruled out.
    pub(crate) fn has_words(&self, facet: &str) -> bool {
        let wanted = key(facet);
        let length = wanted.split(['-', ':']).count();
        let limit = self.tokens.iter().take_while(|(at, _)| *at < self.first).count();
        (0..limit).any(|at| {
            (1..=length.min(limit - at)).any(|n| {
                let (start, _) = self.tokens[at];
                let (last_at, last) = self.tokens[at + n - 1];
                !self.in_code(start)
                    && key(&self.text[start..last_at + last.len()]) == wanted
                    && !is_negated(self.text, start)
            })
        })
    }

    /// "every source of ...", "one slot each", "(deliberate fan-in)".
    pub(crate) fn is_fan_in(&self) -> bool {
        let signs = [
            "fan-in",
            "fan in",
            "fans in",
            "one slot each",
            "every",
            "all sources",
            "all producers",
            "all of",
            "each of",
        ];
        signs.iter().any(|sign| {
            find_phrase(self.text, sign, 0)
                .is_some_and(|at| at < self.first.max(1) || sign.starts_with("fan"))
        })
    }

    /// Whether the whole truth is asked for.
    pub(crate) fn is_atomic(&self) -> bool {
        let signs = ["atomic", "@atomic", "whole truth", "whole world-model"];
        let hit = signs.iter().find_map(|sign| find_phrase(self.text, sign, 0));
        hit.is_some_and(|at| {
            !is_negated(self.text, at)
                && !self.codes.iter().any(|c| c.negated && c.range.contains(&at))
        })
    }
}

/// Whether only a separator stands between two names, so that what is said of one holds for both.
fn is_joined(between: &str) -> bool {
    let rest = between.trim_matches(|c: char| c == ',' || c == '/' || c.is_whitespace());
    ["", "or", "and", "nor"].iter().any(|w| rest.eq_ignore_ascii_case(w))
}

/// Whether a negation stands before `at` in the same clause, at most six words away.
fn is_negated(text: &str, at: usize) -> bool {
    let before = &text[..at];
    let clause = before.rfind([',', ';', '.', '(', ')', ':', '—', '–']).map_or(0, |cut| cut + 1);
    let clause = text.ceil_char_boundary(clause);
    let clause = &text[clause.min(at)..at];
    if find_phrase(clause, "rather than", 0).is_some()
        || find_phrase(clause, "instead of", 0).is_some()
    {
        return true;
    }
    let words: Vec<&str> = words::tokens(clause).map(|(_, w)| w).collect();
    let from = words.len().saturating_sub(6);
    words[from..].iter().any(|w| NEGATIONS.iter().any(|n| w.eq_ignore_ascii_case(n)))
}
