//! Diagnostics as people see them in a terminal.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::{Diagnostic, Severity};

/// Draws one diagnostic with the excerpt of `source` it speaks of; `source` is the decoded text of
/// the file, or empty when there is none.
pub fn render(diagnostic: &Diagnostic, source: &str, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Info => Level::INFO,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.as_str());
    let mut group = if diagnostic.path.is_empty() {
        annotate_snippets::Group::with_title(title)
    } else if source.is_empty() {
        title.element(annotate_snippets::Origin::path(diagnostic.path.as_str()))
    } else {
        // The drawing code panics on spans outside the text or inside a character.
        let start = source.floor_char_boundary(diagnostic.span.start.min(source.len()));
        let end = source.ceil_char_boundary(diagnostic.span.end.clamp(start, source.len()));
        let snippet = Snippet::source(source)
            .path(diagnostic.path.as_str())
            .annotation(AnnotationKind::Primary.span(start..end));
        title.element(snippet)
    };
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}
