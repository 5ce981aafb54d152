//! Contract Markdown: text to model, with diagnostics.
//!
//! [`parse`] turns the bytes of one `*.prose.md` file into a [`File`] and a list of
//! [`Diagnostic`]s. It does no I/O, never panics, and takes time linear in the size of the file.
//! What needs more than one file (wiring, calls, capabilities) is the compiler's.

mod code;
mod diagnostic;
mod frontmatter;
mod id;
mod lint;
mod markdown;
mod model;
mod prose;
mod render;
mod source;

pub use code::Code;
pub use diagnostic::{Diagnostic, Severity};
pub use frontmatter::{Frontmatter, Spanned};
pub use model::{Block, Entry, Fence, File, Kind, Part, Section, SectionKind};
pub use prose::{Item, Mark, MarkKind, Prose};
pub use render::render;
pub use source::{Lines, MAX_BYTES, decode};

/// What became of one file.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The source as every span counts it: no byte-order mark, line ends as `\n`. Empty when the
    /// file is too large or not UTF-8 at all.
    pub text: String,
    /// The model; absent when the file cannot be read as a contract at all.
    pub file: Option<File>,
    /// What is wrong with this file by itself, in order of appearance.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads one file. `path` is only used to name it.
pub fn parse(path: &str, bytes: &[u8]) -> Parsed {
    let text = match decode(path, bytes) {
        Ok(text) => text,
        Err(refused) => {
            return Parsed {
                text: refused.text,
                file: None,
                diagnostics: vec![refused.diagnostic],
            };
        }
    };
    let mut report = diagnostic::Report::new(path, &text);
    let mut file = frontmatter::split(&text, &mut report).map(|front| {
        let body = markdown::read(&text, front.body, &mut report);
        lint::finish(path, &text, front, body, &mut report)
    });
    let (diagnostics, lines) = report.into_sorted();
    if let Some(file) = &mut file {
        file.lines = lines;
    }
    Parsed { text, file, diagnostics }
}
