//! Bytes to text, and offsets to lines.

use crate::{Code, Diagnostic};

/// Files above this size are not read: the largest contracts in use have some 80 KB.
pub const MAX_BYTES: usize = 2 * 1024 * 1024;

const BOM: &str = "\u{feff}";

/// A file that is not read any further.
#[derive(Debug)]
pub struct Refused {
    /// As much of the source as it takes to show the diagnostic.
    pub text: String,
    /// Why.
    pub diagnostic: Diagnostic,
}

/// Decodes a file: within the size limit, UTF-8, without byte-order mark, line ends as `\n`.
///
/// # Errors
/// When the file is too large or not UTF-8.
pub fn decode(path: &str, bytes: &[u8]) -> Result<String, Box<Refused>> {
    if bytes.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; at most {MAX_BYTES} are read", bytes.len());
        let diagnostic = Diagnostic::whole(Code::FileTooLarge, path, message);
        return Err(Box::new(Refused { text: String::new(), diagnostic }));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(normalize(text)),
        Err(error) => Err(Box::new(not_utf8(path, bytes, error.valid_up_to()))),
    }
}

fn normalize(text: &str) -> String {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    if text.contains('\r') { text.replace("\r\n", "\n") } else { text.to_owned() }
}

fn not_utf8(path: &str, bytes: &[u8], valid: usize) -> Refused {
    let text = normalize(&String::from_utf8_lossy(bytes));
    let good = normalize(&String::from_utf8_lossy(&bytes[..valid])).len();
    let lines = Lines::new(&text);
    let diagnostic = Diagnostic::new(
        Code::EncodingInvalid,
        path,
        &lines,
        good..good + 1,
        format!("byte {valid} is not UTF-8"),
    )
    .help("save the file as UTF-8");
    Refused { text, diagnostic }
}

/// The line starts of a text.
#[derive(Debug, Clone, Default)]
pub struct Lines(Vec<usize>);

impl Lines {
    /// Finds the line starts of `text`.
    pub fn new(text: &str) -> Self {
        // Counted first: one allocation of the right size, and the count costs next to nothing.
        let mut starts = Vec::with_capacity(text.bytes().filter(|b| *b == b'\n').count());
        let after_newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        starts.extend(after_newlines.map(|(at, _)| at + 1));
        Self(starts)
    }

    /// The 1-based line that holds the byte at `offset`.
    pub fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset) + 1
    }
}
