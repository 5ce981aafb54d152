//! Whom and what a need mentions, and what it rules out.

use std::{cell::OnceCell, ops::Range};

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
    /// The tokens as names are compared; only some needs come to that.
    keys: OnceCell<Vec<String>>,
    strong: Vec<Range<usize>>,
}

/// A need is read this far. What a bullet means stands at its beginning, and the rules look around
/// each name, so that time must not grow with the square of a text.
const MAX_TEXT: usize = 8 * 1024;
const MAX_CODES: usize = 64;

const NEGATIONS: [&str; 8] =
    ["not", "never", "without", "unlike", "no", "nor", "excluding", "except"];

impl<'a> Mentions<'a> {
    pub(crate) fn new(prose: &'a Prose) -> Self {
        let text = &prose.text[..prose.text.floor_char_boundary(MAX_TEXT)];
        let first = words::sentences(text).next().map_or(0, |s| s.end);
        let mut codes: Vec<Code> = Vec::new();
        for (mark, code) in prose.codes_in(0..text.len()).take(MAX_CODES) {
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
        let strong =
            prose.marks.iter().filter(|m| m.kind == MarkKind::Strong && m.range.end <= text.len());
        Self {
            text,
            codes,
            first,
            tokens: words::tokens(text).collect(),
            keys: OnceCell::new(),
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

    /// The producer of "`facet` from `node`", the form in which an author names it outright.
    pub(crate) fn source(&self) -> Option<&Code<'a>> {
        self.codes.windows(2).find_map(|pair| {
            let between = self.text[pair[0].range.end..pair[1].range.start].trim_matches('`');
            (between.trim() == "from" && !pair[1].negated).then_some(&pair[1])
        })
    }

    /// Bold text of the whole need.
    pub(crate) fn strong(&self) -> impl Iterator<Item = &'a str> {
        self.strong.iter().take(MAX_CODES).map(|r| &self.text[r.clone()])
    }

    /// Nodes named in plain words: by a name or title of several words in the first sentence, or
    /// by one word where the grammar says that it is a producer ("from the inbox gateway", "the
    /// threader's `rollup`"). `from_only` leaves but what follows "from".
    pub(crate) fn in_words(&self, index: &Index, from_only: bool) -> Vec<usize> {
        let mut found = Vec::new();
        let limit = self.first_tokens();
        let mut at = 0;
        while at < limit {
            let longest = self.longest_at(index, at, limit, from_only);
            let hit =
                (1..=longest).rev().find_map(|n| self.named(index, at, n).map(|node| (node, n)));
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

    /// The number of tokens of the first sentence.
    fn first_tokens(&self) -> usize {
        self.tokens.partition_point(|(at, _)| *at < self.first)
    }

    fn keys(&self) -> &[String] {
        self.keys.get_or_init(|| self.tokens.iter().map(|(_, word)| key(word)).collect())
    }

    /// How many words a name that begins at this token could have; none, for most tokens.
    fn longest_at(&self, index: &Index, at: usize, limit: usize, from_only: bool) -> usize {
        let begins = !(from_only && self.before(at) != Some("from"))
            && index.begins_name(&self.keys()[at])
            && !self.in_code(self.tokens[at].0);
        if begins { index.longest().min(limit - at) } else { 0 }
    }

    fn named(&self, index: &Index, at: usize, length: usize) -> Option<usize> {
        let (start, _) = self.tokens[at];
        let (last_at, last) = self.tokens[at + length - 1];
        // A name does not run across a comma or a quotation.
        if length > 1 && self.text[start..last_at + last.len()].contains([',', ';', '(', ')', '—'])
        {
            return None;
        }
        let phrase = self.keys()[at..at + length].join("-");
        if !phrase.contains('-') && !self.is_producer(at, length, self.before(at)) {
            return None;
        }
        let node = index.node_or_title(&phrase)?;
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

    /// Whether the first sentence names this facet (by its key) in plain words, and does not rule it
    /// out.
    pub(crate) fn has_words(&self, facet: &str) -> bool {
        let limit = self.first_tokens();
        let keys = &self.keys()[..limit];
        let is_here = |at: usize| {
            let mut rest = facet;
            for key in &keys[at..] {
                match rest.strip_prefix(key.as_str()) {
                    Some("") => return true,
                    Some(more) if more.starts_with(['-', ':']) => rest = &more[1..],
                    _ => return false,
                }
            }
            false
        };
        (0..limit).any(|at| {
            let start = self.tokens[at].0;
            is_here(at) && !self.in_code(start) && !is_negated(self.text, start)
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
