//! Why a text was refused.

use std::fmt;

/// A text that the strict reader refuses, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} at {path}: {problem}", .problem.code())]
pub struct JsonError {
    /// JSON path of the value being read, such as `$.items[3].price`.
    pub path: String,
    /// What is wrong there.
    pub problem: Problem,
}

impl JsonError {
    /// Stable code for people and programs.
    pub fn code(&self) -> &'static str {
        self.problem.code()
    }
}

/// What the strict reader refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// An object has a key twice; which one counts would be a guess.
    DuplicateKey(String),
    /// A number that a double cannot hold exactly or at all.
    NumberRange,
    /// Deeper than [`super::MAX_DEPTH`].
    Depth,
    /// Not JSON.
    Syntax(String),
    /// Not Unicode text.
    Encoding(String),
}

impl Problem {
    /// Stable code for people and programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::DuplicateKey(_) => "json_duplicate_key",
            Self::NumberRange => "json_number_range",
            Self::Depth => "json_depth",
            Self::Syntax(_) => "json_syntax",
            Self::Encoding(_) => "json_encoding",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateKey(key) => write!(f, "the key {key:?} occurs twice"),
            Self::NumberRange => write!(
                f,
                "the number cannot be held exactly; integers end at 2^53-1, carry larger ones as text"
            ),
            Self::Depth => write!(f, "nested deeper than {} levels", super::MAX_DEPTH),
            Self::Syntax(detail) => write!(f, "not JSON: {detail}"),
            Self::Encoding(detail) => write!(f, "not Unicode text: {detail}"),
        }
    }
}
