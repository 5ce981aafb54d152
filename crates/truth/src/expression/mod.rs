//! Conditions written in the Common Expression Language.
//!
//! An expression sees `self`, `prior` (null before the first truth) and `inputs`. It is parsed and
//! evaluated on a thread of its own, because the parser recurses deeper than a default stack holds;
//! the syntax tree never leaves that thread, because dropping it recurses too.

mod check;
mod evaluate;
mod fuel;
mod meter;
mod value;

use std::sync::Arc;

pub(crate) use evaluate::{Bindings, evaluate_all};

/// The longest source, in bytes. Longer chains of operators would overflow even the large stack.
pub const SOURCE_BYTES_MAX: usize = 4 << 10;
/// Stack of the thread that parses and evaluates.
const STACK_BYTES: usize = 32 << 20;
/// Longest reason that is reported, in characters; errors quote the values they met.
const REASON_CHARS_MAX: usize = 300;

/// A condition that can be parsed and names only what exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    source: Arc<str>,
}

/// Why a condition cannot be used or has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// Longer than [`SOURCE_BYTES_MAX`].
    #[error("the expression is longer than {SOURCE_BYTES_MAX} bytes")]
    TooLong,
    /// Not an expression.
    #[error("not an expression: {0}")]
    Syntax(String),
    /// Names a variable that is neither given nor bound in the expression.
    #[error("unknown variable `{0}`; there are `self`, `prior` and `inputs`")]
    UnknownVariable(String),
    /// Calls a function that does not exist, or a macro with the wrong arguments.
    #[error("`{0}` is no known function, or has the wrong arguments")]
    UnknownFunction(String),
    /// The literal structures of the language are not offered.
    #[error("`{0}` is no known type")]
    UnknownType(String),
    /// Evaluation failed.
    #[error("{0}")]
    Evaluation(String),
    /// Evaluation yielded something else than true or false.
    #[error("the expression yields {0}, not true or false")]
    NotBoolean(String),
    /// Evaluation took more steps than allowed.
    #[error("the expression takes too many steps")]
    TooExpensive,
    /// The evaluator failed in a way it should not.
    #[error("the expression could not be evaluated: {0}")]
    Internal(String),
}

impl ExpressionError {
    /// Stable code for people and programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLong => "cel_too_long",
            Self::Syntax(_) => "cel_syntax",
            Self::UnknownVariable(_) => "cel_unknown_variable",
            Self::UnknownFunction(_) => "cel_unknown_function",
            Self::UnknownType(_) => "cel_unknown_type",
            Self::Evaluation(_) => "cel_evaluation",
            Self::NotBoolean(_) => "cel_not_boolean",
            Self::TooExpensive => "cel_too_expensive",
            Self::Internal(_) => "cel_internal",
        }
    }
}

impl Expression {
    /// Checks that `source` parses, and that its variables and functions exist.
    ///
    /// # Errors
    /// What is wrong with it, in words for its author.
    pub fn parse(source: &str) -> Result<Self, ExpressionError> {
        evaluate::on_large_stack(|| check::parse(&evaluate::environment()?, source).map(drop))??;
        Ok(Self { source: source.into() })
    }

    /// The expression as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Evaluates the condition; `prior` is null where there is none.
    ///
    /// # Errors
    /// When it has no answer of true or false.
    pub fn evaluate(
        &self,
        self_: &serde_json::Value,
        prior: Option<&serde_json::Value>,
        inputs: &serde_json::Value,
    ) -> Result<bool, ExpressionError> {
        let bindings = Bindings { self_, prior, inputs };
        evaluate_all(&[self.source()], &bindings)
            .pop()
            .unwrap_or_else(|| Err(ExpressionError::Internal("no answer".to_owned())))
    }
}

/// Which of `sources` code can decide: they parse, name only what exists, and their form promises
/// true or false. All are looked at on one thread.
pub fn check_conditions(sources: &[&str]) -> Vec<Result<(), ExpressionError>> {
    if sources.is_empty() {
        return Vec::new();
    }
    let check_one = |env: &cel::Env, source: &str| {
        let parsed = check::parse(env, source)?;
        if check::yields_boolean(&parsed) {
            Ok(())
        } else {
            Err(ExpressionError::NotBoolean("a value".to_owned()))
        }
    };
    let checked = evaluate::on_large_stack(|| {
        let env = evaluate::environment()?;
        Ok(sources.iter().map(|source| check_one(&env, source)).collect())
    });
    let failed = |error: ExpressionError| sources.iter().map(|_| Err(error.clone())).collect();
    checked.and_then(|checked| checked).unwrap_or_else(failed)
}

fn shortened(text: &str) -> String {
    text.chars().take(REASON_CHARS_MAX).collect()
}
