//! The reader for JSON text from outside: refuses what would have to be rounded or guessed.

use std::{cell::RefCell, fmt};

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{JsonError, MAX_DEPTH, MAX_SAFE_INTEGER, Problem};

/// Reads one JSON value that fills `text`.
///
/// Numbers with an integral value come out as integers, so `1.0` reads as `1` and `-0` as `0`. The
/// size of `text` is the caller's to limit; time and memory are proportional to it.
///
/// # Errors
/// The first problem met, with its path.
pub fn parse(text: &[u8]) -> Result<Value, JsonError> {
    let text = std::str::from_utf8(text).map_err(|error| JsonError {
        path: "$".to_owned(),
        problem: Problem::Encoding(error.to_string()),
    })?;
    let reading = Reading::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = Reader { reading: &reading }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|error| reading.explain(&error))
}

/// Where the reader is; after an error, where it stopped.
#[derive(Default)]
struct Reading {
    path: RefCell<Vec<Step>>,
    problem: RefCell<Option<Problem>>,
}

enum Step {
    Key(String),
    Index(usize),
}

impl Reading {
    fn refuse<E: de::Error>(&self, problem: Problem) -> E {
        let error = E::custom(&problem);
        *self.problem.borrow_mut() = Some(problem);
        error
    }

    /// Reads a part with `read`; on failure the path keeps pointing at it.
    fn within<T, E>(&self, step: Step, read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.path.borrow_mut().push(step);
        let value = read()?;
        self.path.borrow_mut().pop();
        Ok(value)
    }

    fn is_at_limit(&self) -> bool {
        self.path.borrow().len() >= MAX_DEPTH
    }

    fn explain(&self, error: &serde_json::Error) -> JsonError {
        let problem = self.problem.take().unwrap_or_else(|| {
            // serde_json tells these apart only in words.
            let text = error.to_string();
            if text.starts_with("number out of range") {
                Problem::NumberRange
            } else if text.contains("hex escape") || text.contains("unicode code point") {
                Problem::Encoding(text)
            } else {
                Problem::Syntax(text)
            }
        });
        JsonError { path: path_text(&self.path.borrow()), problem }
    }
}

fn path_text(steps: &[Step]) -> String {
    let mut path = "$".to_owned();
    for step in steps {
        match step {
            Step::Index(index) => path.push_str(&format!("[{index}]")),
            Step::Key(key) if is_plain(key) => {
                path.push('.');
                path.push_str(key);
            }
            Step::Key(key) => path.push_str(&format!("[{key:?}]")),
        }
    }
    path
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    reading: &'a Reading,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;
    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Reader<'_> {
    fn enter<E: de::Error>(self) -> Result<(), E> {
        if self.reading.is_at_limit() {
            return Err(self.reading.refuse(Problem::Depth));
        }
        Ok(())
    }

    fn integer<E: de::Error>(self, magnitude: u64, value: Number) -> Result<Value, E> {
        if magnitude > MAX_SAFE_INTEGER {
            return Err(self.reading.refuse(Problem::NumberRange));
        }
        Ok(Value::Number(value))
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        self.integer(value, value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        self.integer(value.unsigned_abs(), value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        if value.fract() == 0.0 && value.abs() <= MAX_SAFE_INTEGER as f64 {
            return Ok(Value::Number((value as i64).into()));
        }
        // Every double beyond 2^53 is integral, so this refuses those and the non-finite ones.
        match Number::from_f64(value) {
            Some(number) if value.fract() != 0.0 => Ok(Value::Number(number)),
            _ => Err(self.reading.refuse(Problem::NumberRange)),
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.enter()?;
        let mut values = Vec::new();
        while let Some(value) =
            self.reading.within(Step::Index(values.len()), || items.next_element_seed(self))?
        {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        self.enter()?;
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(self.reading.refuse(Problem::DuplicateKey(key)));
            }
            let value =
                self.reading.within(Step::Key(key.clone()), || members.next_value_seed(self))?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_and_path(text: &[u8]) -> (&'static str, String) {
        let error = parse(text).expect_err("must be refused");
        (error.code(), error.path)
    }

    #[test]
    fn what_would_be_rounded_or_guessed_is_refused_with_code_and_path() {
        for (text, code, path) in [
            (r#"{"a":1,"\u0061":2}"#, "json_duplicate_key", "$"),
            (r#"{"a":[{"b":1,"b":1}]}"#, "json_duplicate_key", "$.a[0]"),
            (r#"{"n":9007199254740992}"#, "json_number_range", "$.n"),
            (r#"[1,-9007199254740992]"#, "json_number_range", "$[1]"),
            ("18446744073709551616", "json_number_range", "$"),
            (r#"{"a b":1e400}"#, "json_number_range", "$[\"a b\"]"),
            ("[1e300]", "json_number_range", "$[0]"),
            ("9007199254740993.0", "json_number_range", "$"),
            (r#"["\uD800"]"#, "json_encoding", "$[0]"),
            (r#"{"a":nul}"#, "json_syntax", "$.a"),
            ("[1,]", "json_syntax", "$[1]"),
            ("{} {}", "json_syntax", "$"),
            ("NaN", "json_syntax", "$"),
            ("", "json_syntax", "$"),
        ] {
            assert_eq!(code_and_path(text.as_bytes()), (code, path.to_owned()), "{text}");
        }
        assert_eq!(code_and_path(b"\"\xff\"").0, "json_encoding");
    }

    #[test]
    fn depth_is_limited_without_using_the_stack() {
        let nested = |n: usize| [b"[".repeat(n), b"]".repeat(n)].concat();
        assert!(parse(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(code_and_path(&nested(MAX_DEPTH + 1)).0, "json_depth");
        assert_eq!(code_and_path(&nested(10_000)).0, "json_depth");
        assert_eq!(code_and_path("{\"a\":".repeat(10_000).as_bytes()).0, "json_depth");
    }

    #[test]
    fn equal_numbers_read_equal() {
        for (a, b) in [("1.0", "1"), ("-0", "0"), ("-0.0", "0"), ("1e2", "100")] {
            assert_eq!(parse(a.as_bytes()).unwrap(), parse(b.as_bytes()).unwrap(), "{a} and {b}");
        }
        assert_eq!(parse(b"9007199254740991").unwrap(), 9007199254740991u64);
        assert_eq!(parse(b"0.1").unwrap(), 0.1);
        assert_eq!(parse(br#""\u0000""#).unwrap(), "\0");
    }
}
