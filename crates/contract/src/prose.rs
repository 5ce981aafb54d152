//! A run of text as an author means it: white space collapsed, marks kept beside it.

use std::ops::Range;

/// Text of one paragraph, bullet or heading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prose {
    /// White space collapsed to single spaces; no Markdown marks.
    pub text: String,
    /// What was marked, in order of position.
    pub marks: Vec<Mark>,
    /// Bytes of the decoded source.
    pub span: Range<usize>,
}

/// A marked stretch of a [`Prose`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// How it is marked.
    pub kind: MarkKind,
    /// Bytes of [`Prose::text`].
    pub range: Range<usize>,
}

/// How a stretch of text is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// In backticks.
    Code,
    /// In bold.
    Strong,
}

/// The name part and the text part of a bullet `` - `name`: text ``.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<'a> {
    /// One name, or several as in `` `a` / `b` ``.
    pub names: Vec<&'a str>,
    /// What is said of them.
    pub text: &'a str,
}

impl Prose {
    /// The marked text.
    pub fn marked(&self, mark: &Mark) -> &str {
        &self.text[mark.range.clone()]
    }

    /// Everything in backticks, in order.
    pub fn codes(&self) -> impl Iterator<Item = (&Mark, &str)> {
        self.marks.iter().filter(|m| m.kind == MarkKind::Code).map(|m| (m, self.marked(m)))
    }

    /// What is in backticks within `range`, without a look at anything else.
    pub fn codes_in(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = (&Mark, &str)> {
        let from = self.marks.partition_point(|m| m.range.start < range.start);
        let to = self.marks.partition_point(|m| m.range.start < range.end).max(from);
        let inside = self.marks[from..to].iter();
        inside
            .filter(move |m| m.kind == MarkKind::Code && m.range.end <= range.end)
            .map(|m| (m, self.marked(m)))
    }

    /// Reads a bullet as `` `name`: text ``, `` `name` — text ``, `` `name` `` or `name: text`.
    pub fn item(&self) -> Option<Item<'_>> {
        let (names, at) = self.leading_codes();
        if names.is_empty() {
            return self.bare_item();
        }
        let rest = self.text[at..].trim_start();
        if rest.is_empty() {
            return Some(Item { names, text: "" });
        }
        let text = [":", "—", "–", "- "].iter().find_map(|sign| rest.strip_prefix(sign))?;
        Some(Item { names, text: text.trim_start() })
    }

    /// The names in backticks that the text begins with, joined by `/` or `,`, and where they end.
    fn leading_codes(&self) -> (Vec<&str>, usize) {
        let mut names = Vec::new();
        let mut at = 0;
        for (mark, code) in self.codes() {
            let between = self.text[at..mark.range.start].trim();
            if !(between.is_empty() && names.is_empty()
                || !names.is_empty() && matches!(between, "/" | ","))
            {
                break;
            }
            names.push(code);
            at = mark.range.end;
        }
        (names, at)
    }

    fn bare_item(&self) -> Option<Item<'_>> {
        let (name, text) = self.text.split_once(':')?;
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        let ends = text.is_empty() || text.starts_with(' ');
        (is_name && ends).then(|| Item { names: vec![name], text: text.trim_start() })
    }

    /// The text with backticks, as it enters a fingerprint: white space and emphasis do not count.
    pub fn normalized(&self, out: &mut String) {
        let mut at = 0;
        for mark in self.marks.iter().filter(|m| m.kind == MarkKind::Code) {
            out.push_str(&self.text[at..mark.range.start]);
            out.push('`');
            out.push_str(self.marked(mark));
            out.push('`');
            at = mark.range.end;
        }
        out.push_str(&self.text[at..]);
    }
}

/// Collects a [`Prose`] from parser events.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    prose: Prose,
    space: bool,
    strong: Option<usize>,
}

impl Builder {
    pub(crate) fn new(span: Range<usize>) -> Self {
        // The text is seldom longer than the source it stands for, and never by much.
        let text = String::with_capacity(span.len());
        Self { prose: Prose { text, marks: Vec::new(), span }, ..Self::default() }
    }

    pub(crate) fn text(&mut self, text: &str) {
        let inner = text.trim_matches(' ');
        if is_collapsed(inner) {
            self.space |= text.starts_with(' ');
            self.settle_space();
            self.prose.text.push_str(inner);
            self.space = text.ends_with(' ');
            return;
        }
        for word in text.split_inclusive(char::is_whitespace) {
            let trimmed = word.trim_end_matches(char::is_whitespace);
            if !trimmed.is_empty() {
                self.settle_space();
                self.prose.text.push_str(trimmed);
            }
            self.space |= trimmed.len() < word.len();
        }
    }

    pub(crate) fn space(&mut self) {
        self.space = true;
    }

    pub(crate) fn code(&mut self, code: &str) {
        self.settle_space();
        let start = self.prose.text.len();
        self.prose.text.push_str(code.trim());
        self.mark(MarkKind::Code, start);
    }

    pub(crate) fn strong_begins(&mut self) {
        self.settle_space();
        self.strong.get_or_insert(self.prose.text.len());
    }

    pub(crate) fn strong_ends(&mut self) {
        if let Some(start) = self.strong.take() {
            self.mark(MarkKind::Strong, start);
        }
    }

    pub(crate) fn start(&self) -> usize {
        self.prose.span.start
    }

    pub(crate) fn extend_to(&mut self, end: usize) {
        self.prose.span.end = self.prose.span.end.max(end);
    }

    pub(crate) fn finish(self) -> Prose {
        let mut prose = self.prose;
        prose.marks.sort_by_key(|m| m.range.start);
        prose
    }

    fn settle_space(&mut self) {
        if self.space && !self.prose.text.is_empty() {
            self.prose.text.push(' ');
        }
        self.space = false;
    }

    fn mark(&mut self, kind: MarkKind, start: usize) {
        let range = start..self.prose.text.len();
        if self.prose.marks.is_empty() {
            // Most text has one mark or none, and room for more would be kept as long as the text.
            self.prose.marks.reserve_exact(1);
        }
        self.prose.marks.push(Mark { kind, range });
    }
}

/// Whether a text without spaces at its ends is sure to stay as it is when white space is collapsed.
fn is_collapsed(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_plain = |at: usize| {
        let byte = bytes[at];
        // Above ASCII there is white space too; that is for the careful way.
        byte > b' ' && byte.is_ascii() || byte == b' ' && at > 0 && bytes[at - 1] != b' '
    };
    !bytes.is_empty() && (0..bytes.len()).all(is_plain)
}
