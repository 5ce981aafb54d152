//! Parsing and running jq.

use jaq_core::data::JustLut;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars};
use jaq_json::Val;

/// Depends on the moment, so it is not offered; `.as_of` is.
const NOW: &str = "now";

/// Why a text is not a jq program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ProgramError {
    /// Counted from one.
    pub line: usize,
    /// Counted from one, in characters.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

/// Whether `text` is a jq program this harness can run.
///
/// # Errors
///
/// The first thing that is wrong with it.
pub fn check(text: &str) -> Result<(), ProgramError> {
    Program::parse(text).map(drop)
}

pub(crate) struct Program(Filter<JustLut<Val>>);

impl Program {
    pub(crate) fn parse(text: &str) -> Result<Self, ProgramError> {
        let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let funs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
        let arena = Arena::default();
        let modules = Loader::new(defs)
            .load(&arena, File { code: text, path: () })
            .map_err(|errors| first(text, errors.into_iter().map(|(_, error)| loading(error))))?;
        let filter = Compiler::default()
            .with_funs(funs.filter(|(name, ..)| *name != NOW))
            .compile(modules)
            .map_err(|errors| first(text, errors.into_iter().map(|(_, found)| compiling(found))))?;
        Ok(Self(filter))
    }

    /// Runs the program; the error is its reason for yielding no truth.
    pub(crate) fn run(&self, input: Val) -> Result<Val, String> {
        let context = Ctx::<JustLut<Val>>::new(&self.0.lut, Vars::new([]));
        let mut results = self.0.id.run((context, input));
        let first = results.next().ok_or("the jq program yielded no value")?;
        let value = first.map_err(|exception| match exception.get_err() {
            Ok(error) => explain(error),
            Err(_) => "the jq program halted instead of yielding a value".to_owned(),
        })?;
        // An error after the first value spoils it as much as a second value does.
        match results.next() {
            None => Ok(value),
            Some(_) => Err("the jq program yielded more than one value".to_owned()),
        }
    }
}

fn explain(error: jaq_json::Error) -> String {
    let text = match error.into_val() {
        Val::TStr(text) => String::from_utf8_lossy(&text).into_owned(),
        other => other.to_string(),
    };
    if text.is_empty() { "the jq program failed without a message".to_owned() } else { text }
}

/// Where in the program, and what.
type Fault<'a> = (&'a str, String);

fn first<'a>(text: &str, faults: impl Iterator<Item = Option<Fault<'a>>>) -> ProgramError {
    let (place, message) =
        faults.flatten().next().unwrap_or((text, "is not a jq program".to_owned()));
    let before = &text[..load::span(text, place).start];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    ProgramError {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message,
    }
}

fn loading(error: load::Error<&str>) -> Option<Fault<'_>> {
    match error {
        load::Error::Io(errors) => errors.into_iter().next(),
        load::Error::Lex(errors) => errors.into_iter().next().map(|(expected, found)| {
            (found, format!("expected {}{}", expected.as_str(), but_found(found)))
        }),
        load::Error::Parse(errors) => errors.into_iter().next().map(|(expected, found)| {
            (found, format!("expected {}{}", expected.as_str(), but_found(found)))
        }),
    }
}

fn but_found(found: &str) -> String {
    match found.chars().next() {
        None => " before the end of the program".to_owned(),
        Some(character) => format!(", found {character:?}"),
    }
}

fn compiling(errors: Vec<jaq_core::compile::Error<&str>>) -> Option<Fault<'_>> {
    let (name, kind) = errors.into_iter().next()?;
    let hint =
        if name == NOW { "; use .as_of, so that equal inputs give equal truths" } else { "" };
    Some((name, format!("undefined {} {name}{hint}", kind.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(program: &str) -> Result<String, String> {
        let program = Program::parse(program).map_err(|error| error.to_string())?;
        program.run(Val::Null).map(|value| value.to_string())
    }

    #[test]
    fn exactly_one_value_is_a_result() {
        assert_eq!(run("{a: (1 + 1), b: [range(3)]}").unwrap(), r#"{"a":2,"b":[0,1,2]}"#);
        assert_eq!(run("empty").unwrap_err(), "the jq program yielded no value");
        assert_eq!(run("1, 2").unwrap_err(), "the jq program yielded more than one value");
        assert_eq!(
            run("1, error(\"x\")").unwrap_err(),
            "the jq program yielded more than one value"
        );
        assert_eq!(run(r#"error("no data yet")"#).unwrap_err(), "no data yet");
        assert_eq!(run("error({code: 3})").unwrap_err(), r#"{"code":3}"#);
        assert_eq!(run("halt").unwrap_err(), "the jq program halted instead of yielding a value");
        assert!(
            run("{} | .a.b.c + {} | . * 2 | keys | .[0] | ltrimstr(1) | tojson | {x: .}").is_err()
        );
    }

    #[test]
    fn what_is_wrong_is_found_with_its_place() {
        for (program, line, column, message) in [
            ("{a: 1", 1, 6, "expected closing brace"),
            (".a |\n  frobnicate", 2, 3, "undefined filter frobnicate"),
            ("{t: now}", 1, 5, "undefined filter now; use .as_of"),
            ("include \"x\"; .", 1, 10, "module loading not supported"),
            (". as $x | $y", 1, 11, "undefined variable $y"),
        ] {
            let error = check(program).unwrap_err();
            assert!(error.message.contains(message), "{program}: {error}");
            assert_eq!((error.line, error.column), (line, column), "{program}: {error}");
        }
        check("").unwrap_err();
    }
}
