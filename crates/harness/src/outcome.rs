//! What a session says and leaves.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::time::Duration;

use prose_truth::Files;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::environment::Redactor;
use crate::failure::{FailureCode, SessionFailure};
use crate::folder::{RESULT, TaskFolder};
use crate::limits::Limits;
use crate::tree;

/// A session that ended as the protocol says.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether there is a new truth.
    pub status: Status,
    /// The session's word on the conditions it was asked to attest.
    pub attestations: BTreeMap<String, bool>,
    /// Why it failed, or a remark.
    pub reason: Option<String>,
    /// What it needs from a person, when it failed for want of it.
    pub needs: Option<Value>,
    /// What changed, for readers.
    pub diff: Option<String>,
    /// What it used, as far as it says.
    pub usage: Usage,
    /// The new truth; empty when it failed.
    pub published: Files,
    /// How long the session ran.
    pub duration: Duration,
}

/// Whether a session has a new truth to offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// `published/` is the new truth.
    Rendered,
    /// The session could not do what the contract asks, and says why.
    Failed,
}

/// Tokens of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens paid in full.
    #[serde(default)]
    pub fresh_tokens: u64,
    /// Tokens served from a cache.
    #[serde(default)]
    pub reused_tokens: u64,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// `result.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionResult {
    pub(crate) status: Status,
    #[serde(default, deserialize_with = "unique")]
    pub(crate) attestations: BTreeMap<String, bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) needs: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) diff: Option<String>,
    #[serde(default)]
    pub(crate) usage: Usage,
}

/// Judges what a session left in its folder.
pub(crate) fn collect(
    folder: &TaskFolder,
    limits: &Limits,
    redactor: &Redactor,
    duration: Duration,
) -> Result<Outcome, SessionFailure> {
    let result = read_result(folder.root(), limits)?;
    folder.check_untouched()?;
    let published = match result.status {
        Status::Rendered => folder.published(limits)?,
        Status::Failed => Files::new(),
    };
    let redact = |text: String| redactor.text(&text);
    Ok(Outcome {
        status: result.status,
        attestations: result.attestations,
        reason: result.reason.map(redact),
        needs: result.needs.map(|needs| redact_value(needs, redactor)),
        diff: result.diff.map(redact),
        usage: result.usage,
        published,
        duration,
    })
}

fn read_result(root: &Path, limits: &Limits) -> Result<SessionResult, SessionFailure> {
    let malformed = |what: String| {
        let reason = format!("the session's result.json {what}");
        SessionFailure::new(FailureCode::ResultMalformed, reason)
    };
    let bytes = match tree::read_capped(&root.join(RESULT), limits.result_bytes) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            return Err(malformed(format!("is longer than {} bytes", limits.result_bytes)));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let reason = "the session ended without writing result.json";
            return Err(SessionFailure::new(FailureCode::ResultMissing, reason));
        }
        Err(error) => return Err(malformed(format!("cannot be read: {error}"))),
    };
    // The derived reader would take an array for an object.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(malformed("is not a JSON object".into()));
    }
    let result: SessionResult = serde_json::from_slice(&bytes)
        .map_err(|error| malformed(format!("is not what the protocol says: {error}")))?;
    if result.status == Status::Failed && result.reason.as_deref().is_none_or(str::is_empty) {
        return Err(malformed("says failed but gives no reason".into()));
    }
    Ok(result)
}

fn redact_value(value: Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => Value::String(redactor.text(&text)),
        Value::Array(items) => items.into_iter().map(|item| redact_value(item, redactor)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, value)| (redactor.text(&key), redact_value(value, redactor)))
            .collect(),
        plain => plain,
    }
}

/// A map whose keys stand once: of two answers to one question neither is believed.
fn unique<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, bool>, D::Error> {
    struct Unique;
    impl<'de> Visitor<'de> for Unique {
        type Value = BTreeMap<String, bool>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of true and false")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut seen = BTreeMap::new();
            while let Some((key, value)) = map.next_entry::<String, bool>()? {
                if seen.contains_key(&key) {
                    return Err(de::Error::custom(format!("attestation {key:?} stands twice")));
                }
                seen.insert(key, value);
            }
            Ok(seen)
        }
    }
    from.deserialize_map(Unique)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SessionResult, FailureCode> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(RESULT), text).unwrap();
        read_result(dir.path(), &Limits::default()).map_err(|failure| failure.code)
    }

    #[test]
    fn the_least_and_the_most_a_result_can_say() {
        assert_eq!(read(r#"{"status": "rendered"}"#).unwrap().status, Status::Rendered);
        let full = r#"{"status": "failed", "attestations": {"a": true}, "reason": "no",
            "needs": ["a key"], "diff": "x", "usage": {"fresh_tokens": 3, "model": "m"}}"#;
        let full = read(full).unwrap();
        assert_eq!(full.usage.fresh_tokens, 3);
        assert_eq!(full.needs, Some(serde_json::json!(["a key"])));
    }

    #[test]
    fn anything_else_is_malformed() {
        for text in [
            "",
            r#"{"status": "rendered""#,
            r#"{"status": "rendered"} x"#,
            r#"{"status": "done"}"#,
            r#"{"attestations": {}}"#,
            r#"{"status": "failed"}"#,
            r#"{"status": "rendered", "attestation": {}}"#,
            r#"{"status": "rendered", "status": "failed"}"#,
            r#"{"status": "rendered", "attestations": {"a": true, "a": false}}"#,
            r#"{"status": "rendered", "attestations": {"a": "yes"}}"#,
            r#"{"status": "rendered", "usage": {"fresh_tokens": -1}}"#,
            "[]",
            "\u{feff}{}",
        ] {
            assert_eq!(read(text).unwrap_err(), FailureCode::ResultMalformed, "{text}");
        }
    }
}
