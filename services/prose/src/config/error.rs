//! What can be wrong with `prose.toml`.

use std::{borrow::Cow, path::Path};

use crate::error::Explain;

/// Something wrong with `prose.toml`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{place}: {message}")]
    Syntax { place: String, message: String },
    #[error("{place}: unknown key `{key}`")]
    UnknownKey { place: String, key: String, nearest: Option<String>, known: Vec<String> },
    #[error("{}: `{key}` {problem}", path.display())]
    Value { path: std::path::PathBuf, key: String, problem: String },
}

impl Error {
    pub(super) fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let start = error.span().map_or(0, |span| span.start);
        Self::Syntax { place: place(path, text, start), message: error.message().to_owned() }
    }

    pub(super) fn value(path: &Path, key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Value { path: path.to_owned(), key: key.into(), problem: problem.into() }
    }
}

/// `file:line`.
pub(super) fn place(path: &Path, text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    // The end of an unfinished text belongs to its last line.
    let line = before.trim_end_matches('\n').matches('\n').count()
        + 1
        + usize::from(before.ends_with('\n') && offset < text.len());
    format!("{}:{line}", path.display())
}

impl Explain for Error {
    fn code(&self) -> Cow<'static, str> {
        match self {
            Self::Syntax { .. } => "config_syntax".into(),
            Self::UnknownKey { .. } => "config_unknown_key".into(),
            Self::Value { .. } => "config_value".into(),
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::UnknownKey { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`?"))
            }
            Self::UnknownKey { known, .. } => Some(format!("known here: {}", known.join(", "))),
            _ => None,
        }
    }
}
