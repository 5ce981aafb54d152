//! Truth trees as one jq value, and back.

use std::fs;
use std::io;
use std::path::Path;

use jaq_json::{Map, Val, read};

use super::session::SessionError;
use crate::tree::{self, Files};

const TRUTH: &str = "truth.json";

/// Reads the tree in `folder`: its shared fields plus one key per facet. None when it is empty.
pub(crate) fn read(folder: &Path) -> Result<Option<Val>, SessionError> {
    let facets = read_facets(folder)?;
    match (read_file(&folder.join(TRUTH))?, facets.is_empty()) {
        (shared, true) => Ok(shared),
        (None, false) => Ok(Some(object(facets))),
        (Some(Val::Obj(shared)), false) => {
            let mut document = Map::clone(&shared);
            document.extend(facets.into_iter().map(|(name, value)| (Val::from(name), value)));
            Ok(Some(Val::obj(document)))
        }
        (Some(_), false) => Err(SessionError::Input {
            path: folder.join(TRUTH),
            message: "is not an object although there are facets beside it".to_owned(),
        }),
    }
}

/// Reads a JSON file; none when there is none.
pub(crate) fn read_file(path: &Path) -> Result<Option<Val>, SessionError> {
    let input = |message: String| SessionError::Input { path: path.to_owned(), message };
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(input(format!("cannot be read: {error}"))),
        Ok(bytes) => {
            let value = read::parse_single(&bytes);
            value.map(Some).map_err(|error| input(format!("is not JSON: {error}")))
        }
    }
}

pub(crate) fn object(fields: impl IntoIterator<Item = (String, Val)>) -> Val {
    Val::obj(fields.into_iter().map(|(name, value)| (Val::from(name), value)).collect())
}

/// Splits what the program yielded into files; the error is the reason why it is no truth.
pub(crate) fn split(document: Val, facets: &[String]) -> Result<Files, String> {
    let Val::Obj(fields) = document else {
        return Err(format!("the jq program yielded {}, not an object", kind(&document)));
    };
    let mut shared = Map::clone(&fields);
    let mut files = Files::new();
    for facet in facets {
        let Some(region) = shared.shift_remove(&Val::from(facet.clone())) else { continue };
        if !matches!(region, Val::Obj(_)) {
            return Err(format!("facet {facet} is {}, not an object", kind(&region)));
        }
        if !tree::is_safe_segment(facet) {
            return Err(format!("facet {facet:?} cannot be the name of a folder"));
        }
        files.insert(format!("{facet}/{TRUTH}"), text(&region)?);
    }
    files.insert(TRUTH.to_owned(), text(&Val::obj(shared))?);
    Ok(files)
}

/// JSON on one line. jq values can hold what JSON cannot: keys that are no strings, not-a-number.
fn text(value: &Val) -> Result<Vec<u8>, String> {
    let text = format!("{value}\n");
    match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        Ok(_) => Ok(text.into_bytes()),
        Err(error) => Err(format!("the jq program yielded what JSON cannot hold: {error}")),
    }
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

fn read_facets(folder: &Path) -> Result<Vec<(String, Val)>, SessionError> {
    let input = |error: io::Error| SessionError::Input {
        path: folder.to_owned(),
        message: format!("cannot be read: {error}"),
    };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(input)?,
    };
    let mut facets = Vec::new();
    for entry in entries {
        let entry = entry.map_err(input)?;
        // Names come from text, so they are text.
        let Ok(name) = entry.file_name().into_string() else { continue };
        if entry.file_type().map_err(input)?.is_dir()
            && let Some(region) = read_file(&entry.path().join(TRUTH))?
        {
            facets.push((name, region));
        }
    }
    // The order of folders on disk is nobody's intent.
    facets.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(facets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Val {
        read::parse_single(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_truth_splits_by_facets_and_reads_back_as_one() {
        let document = value(r#"{"z": 1.0, "funding": {"b": 12345678901234567890123}, "a": null}"#);
        let files = split(document.clone(), &["funding".into(), "absent".into()]).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["funding/truth.json", "truth.json"]);
        assert_eq!(files["truth.json"], b"{\"z\":1.0,\"a\":null}\n");
        assert_eq!(files["funding/truth.json"], b"{\"b\":12345678901234567890123}\n");
        let dir = tempfile::tempdir().unwrap();
        tree::write_files(dir.path(), &files, tree::FILE_MODE).unwrap();
        assert_eq!(read(dir.path()).unwrap().unwrap(), document);
        assert!(read(&dir.path().join("none")).unwrap().is_none());
    }

    #[test]
    fn what_is_no_truth_has_a_reason() {
        let facets = ["f".to_owned()];
        assert!(split(value("[]"), &facets).unwrap_err().contains("an array, not an object"));
        assert!(split(value(r#"{"f": 3}"#), &facets).unwrap_err().contains("facet f is a number"));
        let endless = Val::from(f64::INFINITY);
        for no_json in [Val::from(f64::NAN), endless] {
            let document = object([("x".to_owned(), no_json)]);
            assert!(split(document, &facets).unwrap_err().contains("JSON cannot hold"));
        }
        assert!(split(value("{1: 2}"), &facets).unwrap_err().contains("JSON cannot hold"));
    }
}
