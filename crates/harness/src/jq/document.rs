//! Truth trees as one value, and back.

use std::fs;
use std::io;
use std::path::Path;

use jaq_json::Val;
use prose_truth::{Files, document, files_of, json};
use serde_json::Value;

use super::session::SessionError;
use crate::tree::{self, TreeError};

/// Reads the tree in the folder `path` as one document; null when nothing was ever published.
pub(crate) fn read(root: &Path, path: &str) -> Result<Value, SessionError> {
    let input = |message: String| SessionError::Input { path: path.to_owned(), message };
    // The worker wrote the tree within its own limits.
    let files = match tree::read(root, path, usize::MAX, u64::MAX) {
        Err(TreeError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(Value::Null);
        }
        files => files.map_err(|error| input(error.to_string()))?,
    };
    if files.is_empty() {
        return Ok(Value::Null);
    }
    document(&files).map_err(|error| input(error.to_string()))
}

/// Reads one event.
pub(crate) fn event(root: &Path, path: &str) -> Result<Value, SessionError> {
    let text = fs::read(root.join(path))?;
    json::strict::parse(&text)
        .map_err(|error| SessionError::Input { path: path.to_owned(), message: error.to_string() })
}

/// Splits what the program yielded into files; the error is the reason why it is no truth.
pub(crate) fn split(document: &Val, facets: &[String]) -> Result<Files, String> {
    if !matches!(document, Val::Obj(_)) {
        return Err(format!("the jq program yielded {}, not an object", kind(document)));
    }
    // By way of text: jq values can hold what JSON cannot (keys that are no strings, infinity),
    // and the strict reader has the say on what a truth may hold.
    let document = json::strict::parse(document.to_string().as_bytes())
        .map_err(|error| format!("the jq program yielded what a truth cannot hold: {error}"))?;
    files_of(document, facets).map_err(|error| error.to_string())
}

fn kind(value: &Val) -> &'static str {
    match value {
        Val::Null => "null",
        Val::Bool(_) => "a boolean",
        Val::Num(_) => "a number",
        Val::BStr(_) => "bytes",
        Val::TStr(_) => "a string",
        Val::Arr(_) => "an array",
        Val::Obj(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use jaq_json::read::parse_single;
    use serde_json::json;

    use super::*;

    fn value(text: &str) -> Val {
        parse_single(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_truth_splits_by_facets_and_reads_back_as_one() {
        let truth = value(r#"{"z": 1.5, "funding": {"b": 2.0}, "a": null, "gone": 0}"#);
        let files = split(&truth, &["funding".into(), "absent".into(), "gone".into()]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        tree::write_files(&dir.path().join("t"), &files, tree::FILE_MODE).unwrap();
        let text = |path: &str| fs::read_to_string(dir.path().join("t").join(path)).unwrap();
        assert_eq!(text("truth.json"), r#"{"a":null,"z":1.5}"#);
        assert_eq!(text("funding/truth.json"), r#"{"b":2}"#);
        let document = read(dir.path(), "t").unwrap();
        assert_eq!(document, json!({"a": null, "z": 1.5, "funding": {"b": 2}, "gone": 0}));
        assert_eq!(read(dir.path(), "none").unwrap(), Value::Null);
    }

    #[test]
    fn what_is_no_truth_has_a_reason() {
        let no_facets: [String; 0] = [];
        let reason = split(&value("[]"), &no_facets).unwrap_err();
        assert_eq!(reason, "the jq program yielded an array, not an object");
        for text in [r#"{"n": 9007199254740993}"#, "{1: 2}", r#"{"x": NaN}"#] {
            let reason = split(&value(text), &no_facets).unwrap_err();
            assert!(reason.contains("what a truth cannot hold"), "{text}: {reason}");
        }
        split(&value(r#"{"..": 1}"#), &["..".to_owned()]).unwrap_err();
    }
}
