//! What a subscriber of a facet gets to see of a producer's truth.

use crate::{DocumentError, Files, document, files_of, region, region_key};
use prose_ir::ATOMIC;
use serde_json::{Map, Value};

/// The part of `files` that a subscriber of `facet` reads: for the whole truth, all of it; for a
/// facet, its region and the projections beside it; for a member of a family, that member alone.
///
/// What does not wake a render must not reach it either, or its truth would depend on chance.
///
/// # Errors
///
/// A truth that does not read as one document.
pub fn narrow(files: &Files, facet: &str) -> Result<Files, DocumentError> {
    if facet == ATOMIC {
        return Ok(files.clone());
    }
    let document = document(files)?;
    let Some(value) = region(&document, facet) else { return Ok(Files::new()) };
    let (key, member) = locate(&document, facet);
    let folder = format!("{key}/");
    let mut narrowed = Files::new();
    let value = match member {
        // What lies beside it is about the whole family.
        Some(member) => object(member, value),
        None => {
            let beside = files.iter().filter(|(path, _)| path.as_str().starts_with(&folder));
            narrowed = beside.map(|(path, content)| (path.clone(), content.clone())).collect();
            value
        }
    };
    // Of the two files, one holds the shared fields, which are none.
    for (path, content) in files_of(object(key, value), &[key])? {
        if path.as_str().starts_with(&folder) {
            narrowed.insert(path, content);
        }
    }
    Ok(narrowed)
}

/// The key of the document under which the facet is found, and the member below it.
fn locate<'a>(document: &Value, facet: &'a str) -> (&'a str, Option<&'a str>) {
    if document.get(facet).is_some() {
        return (facet, None);
    }
    match (region_key(facet), facet.split_once(':')) {
        (key, Some((family, member))) if key == facet => (family, Some(member)),
        (key, _) => (key, None),
    }
}

fn object(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

#[cfg(test)]
mod tests {
    use crate::TreePath;

    use super::*;

    fn files(files: &[(&str, &str)]) -> Files {
        files
            .iter()
            .map(|(path, text)| (TreePath::new(path).unwrap(), text.as_bytes().into()))
            .collect()
    }

    #[test]
    fn a_subscriber_sees_its_facet_only() {
        let truth = files(&[
            ("truth.json", r#"{"n": 1, "inline": {"i": 2}}"#),
            ("funding/truth.json", r#"{"round":"A"}"#),
            ("funding/table.csv", "a,b"),
            ("user/truth.json", r#"{"ann":{"x":1},"bob":{"x":2}}"#),
            ("user/all.md", "both"),
            ("notes.md", "about all"),
        ]);
        let narrowed = |facet: &str| narrow(&truth, facet).unwrap();
        assert_eq!(narrowed(ATOMIC), truth);
        assert_eq!(
            narrowed("funding"),
            files(&[("funding/truth.json", r#"{"round":"A"}"#), ("funding/table.csv", "a,b")])
        );
        assert_eq!(narrowed("inline"), files(&[("inline/truth.json", r#"{"i":2}"#)]));
        assert_eq!(
            narrowed("user:<login>"),
            files(&[
                ("user/truth.json", r#"{"ann":{"x":1},"bob":{"x":2}}"#),
                ("user/all.md", "both")
            ])
        );
        assert_eq!(narrowed("user:bob"), files(&[("user/truth.json", r#"{"bob":{"x":2}}"#)]));
        assert!(narrowed("user:eve").is_empty());
        assert!(narrowed("absent").is_empty());
    }
}
