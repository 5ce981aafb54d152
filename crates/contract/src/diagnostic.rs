//! What a reader of contracts is told.

use std::ops::Range;

use serde::Serialize;

use crate::{Code, Lines};

/// How serious a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Probably not what the author meant.
    Warning,
    /// Keeps the manifest from being written.
    Error,
}

/// One remark about one place of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// What kind of remark.
    pub code: Code,
    /// How serious.
    pub severity: Severity,
    /// Root-relative path of the file; empty when it is about the whole source set.
    pub path: String,
    /// Bytes of the decoded source (no byte-order mark, line ends as `\n`).
    pub span: Range<usize>,
    /// 1-based line of the start of the span.
    pub line: usize,
    /// One sentence of what is wrong.
    pub message: String,
    /// One sentence of what to do, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic of the code's own severity.
    pub fn new(
        code: Code,
        path: &str,
        lines: &Lines,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity: code.severity(),
            path: path.to_owned(),
            line: lines.line(span.start),
            span,
            message: message.into(),
            help: None,
        }
    }

    /// A diagnostic about a whole file or the whole source set.
    pub fn whole(code: Code, path: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            path: path.to_owned(),
            line: 1,
            span: 0..0,
            message: message.into(),
            help: None,
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Whether it keeps the manifest from being written.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Collects the diagnostics of one file.
pub(crate) struct Report<'a> {
    path: &'a str,
    lines: Lines,
    found: Vec<Diagnostic>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(path: &'a str, text: &str) -> Self {
        Self { path, lines: Lines::new(text), found: Vec::new() }
    }

    pub(crate) fn add(
        &mut self,
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        self.found.push(Diagnostic::new(code, self.path, &self.lines, span, message));
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// The diagnostics in order of appearance, and the line starts, which the file keeps.
    pub(crate) fn into_sorted(self) -> (Vec<Diagnostic>, Lines) {
        let mut found = self.found;
        found.sort_by_key(|d| (d.span.start, d.code));
        (found, self.lines)
    }
}
