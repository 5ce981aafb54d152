//! One contract at a time: what its sections mean.

pub(crate) mod calls;
pub(crate) mod capabilities;
pub(crate) mod continuity;
pub(crate) mod gateway;
pub(crate) mod maintains;
pub(crate) mod materiality;
pub(crate) mod postconditions;

use prose_contract::{Code, Diagnostic, Entry, File, Kind, SectionKind};
use std::ops::Range;

/// Drops the sections of an entry that nobody reads once it is lowered by itself. What only the
/// whole source set can tell of a node is told by what it asks for; functions, and those who may
/// call them, are needed as they are.
pub(crate) fn thin(entry: &mut Entry) {
    if entry.kind != Some(Kind::Function) && !entry.has(SectionKind::Execution) {
        entry.sections.retain(|s| matches!(s.kind, SectionKind::Requires | SectionKind::Emits));
        entry.sections.shrink_to_fit();
    }
}

/// An entry and the file it stands in.
#[derive(Clone, Copy)]
pub(crate) struct Unit<'a> {
    pub(crate) file: &'a File,
    pub(crate) entry: &'a Entry,
    /// The decoded source of the file.
    source: &'a str,
}

impl<'a> Unit<'a> {
    /// The entries of a file, its own first.
    pub(crate) fn all(file: &'a File, source: &'a str) -> impl Iterator<Item = Self> {
        let entries = std::iter::once(&file.entry).chain(&file.inline);
        entries.map(move |entry| Self { file, entry, source })
    }

    /// The text as authored: the file, or the inline entry.
    pub(crate) fn text(&self) -> String {
        let text = self.source.get(self.entry.span.clone()).unwrap_or(self.source).trim_end();
        let mut owned = String::with_capacity(text.len() + 1);
        owned.push_str(text);
        owned.push('\n');
        owned
    }

    pub(crate) fn name(&self) -> &'a str {
        &self.entry.name.value
    }

    pub(crate) fn diagnostic(
        &self,
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(code, &self.file.path, &self.file.lines, span, message)
    }

    /// What a reader of sections is told when a section is declared in prose and holds nothing.
    pub(crate) fn is_none(text: &str) -> bool {
        let word = text.trim_matches(|c: char| !c.is_alphanumeric());
        ["none", "nothing", "n/a"].iter().any(|n| word.eq_ignore_ascii_case(n))
    }
}
