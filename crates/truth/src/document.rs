//! A truth as one JSON document: the shared fields, plus one key for each facet.

use serde_json::{Map, Value};

use crate::{
    Files, PathError, TreePath,
    json::{self, JsonError},
};

/// The file that backs the shared fields, and inside a facet's folder the facet.
pub const TRUTH_FILE: &str = "truth.json";

/// Why files and document do not belong together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// A `truth.json` that the strict reader refuses.
    #[error("`{path}`: {error}")]
    Json {
        /// The file.
        path: String,
        /// What is wrong in it.
        error: JsonError,
    },
    /// The shared fields are not an object.
    #[error("`{TRUTH_FILE}` must hold one JSON object")]
    NotAnObject,
    /// A facet has a file of its own and a key among the shared fields.
    #[error("`{0}` is a key of `{TRUTH_FILE}` and has a file of its own")]
    Twice(String),
    /// A region's name cannot be the name of a folder.
    #[error("a facet's region cannot be a folder: {0}")]
    Region(#[from] PathError),
}

impl DocumentError {
    /// Stable code for people and programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Json { error, .. } => error.code(),
            Self::NotAnObject => "truth_not_an_object",
            Self::Twice(_) => "truth_key_twice",
            Self::Region(error) => error.code(),
        }
    }
}

/// Reads the structured part of `files`; everything else is a projection.
///
/// A facet is found at `<facet>/truth.json`, one folder deep; deeper files of that name are
/// projections. Its value is usually an object, but any JSON value is read.
///
/// # Errors
/// The first file that cannot be read, or a facet that is there twice.
pub fn document(files: &Files) -> Result<Value, DocumentError> {
    let mut document = match files.get(TRUTH_FILE) {
        None => Map::new(),
        Some(content) => match read(TRUTH_FILE, content)? {
            Value::Object(shared) => shared,
            _ => return Err(DocumentError::NotAnObject),
        },
    };
    for (path, content) in files.iter() {
        let Some((facet, TRUTH_FILE)) = path.as_str().split_once('/') else {
            continue;
        };
        if document.contains_key(facet) {
            return Err(DocumentError::Twice(facet.to_owned()));
        }
        document.insert(facet.to_owned(), read(path.as_str(), content)?);
    }
    Ok(Value::Object(document))
}

fn read(path: &str, content: &[u8]) -> Result<Value, DocumentError> {
    json::strict::parse(content)
        .map_err(|error| DocumentError::Json { path: path.to_owned(), error })
}

/// Splits `document` into the files that back it, in canonical form: each of `regions` that the
/// document has goes to a file of its own, the rest to `truth.json`.
///
/// # Errors
/// When the document is no object, or a region's name cannot be that of a folder.
pub fn files_of<S: AsRef<str>>(document: Value, regions: &[S]) -> Result<Files, DocumentError> {
    let Value::Object(mut shared) = document else {
        return Err(DocumentError::NotAnObject);
    };
    let mut files = Files::new();
    for region in regions {
        let region = region.as_ref();
        if let Some(value) = shared.remove(region) {
            files.insert(facet_file(region)?, json::canonical(&value));
        }
    }
    files.insert(TreePath::new(TRUTH_FILE)?, json::canonical(&Value::Object(shared)));
    Ok(files)
}

fn facet_file(region: &str) -> Result<TreePath, PathError> {
    if region.contains('/') {
        return Err(PathError { path: region.to_owned(), problem: "has more than one segment" });
    }
    TreePath::new(&format!("{region}/{TRUTH_FILE}"))
}
