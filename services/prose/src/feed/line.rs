//! What stands in one line.

use std::borrow::Cow;

use prose_truth::json::{JsonError, strict};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Error;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written<'a> {
    #[serde(borrow)]
    pub gateway: Cow<'a, str>,
    /// Not read but cut out, so that it goes on as it came.
    #[serde(borrow)]
    pub event: &'a RawValue,
    #[serde(borrow, default)]
    pub key: Option<Cow<'a, str>>,
}

/// What is wrong with a line.
pub(super) enum Problem {
    Shape(String),
    Event(JsonError),
}

impl Problem {
    pub fn at(self, place: String) -> Error {
        match self {
            Self::Shape(problem) => Error::Line { place, problem },
            Self::Event(error) => Error::Event { place, error },
        }
    }
}

pub(super) fn parse(text: &[u8]) -> Result<Written<'_>, Problem> {
    if std::str::from_utf8(text).is_err() {
        // The strict reader says where.
        return Err(strict::parse(text)
            .map_or_else(Problem::Event, |_| Problem::Shape("it is not UTF-8 text".into())));
    }
    let written: Written<'_> =
        serde_json::from_slice(text).map_err(|error| Problem::Shape(error.to_string()))?;
    if written.key.as_deref() == Some("") {
        return Err(Problem::Shape("the key is empty".into()));
    }
    strict::parse(written.event.get().as_bytes()).map_err(Problem::Event)?;
    Ok(written)
}
