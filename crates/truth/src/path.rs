//! Paths inside a truth tree.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// The longest path, in bytes.
pub const PATH_BYTES_MAX: usize = 1024;
/// The longest segment of a path, in bytes: what file systems take.
pub const SEGMENT_BYTES_MAX: usize = 255;

/// A relative path with `/` between its segments, safe to create below any folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TreePath(Arc<str>);

/// A text that is no path of a truth tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the path {path:?} {problem}")]
pub struct PathError {
    /// The path, shortened.
    pub path: String,
    /// What is wrong with it, as the rest of a sentence.
    pub problem: &'static str,
}

impl PathError {
    /// Stable code for people and programs.
    pub fn code(&self) -> &'static str {
        "tree_path"
    }
}

impl TreePath {
    /// Checks `path`.
    ///
    /// # Errors
    /// When it is empty, absolute, too long, or has an empty, `.` or `..` segment, a backslash or
    /// a NUL.
    pub fn new(path: &str) -> Result<Self, PathError> {
        match problem_of(path) {
            None => Ok(Self(path.into())),
            Some(problem) => Err(PathError { path: path.chars().take(80).collect(), problem }),
        }
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folders the path lies in, outermost first: `a` and `a/b` for `a/b/c`.
    pub(crate) fn parents(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(end, _)| &self.0[..end])
    }
}

fn problem_of(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("is empty");
    }
    if path.len() > PATH_BYTES_MAX {
        return Some("is longer than 1024 bytes");
    }
    if path.starts_with('/') {
        return Some("is absolute");
    }
    if path.contains(['\0', '\\']) {
        return Some("contains a backslash or a NUL");
    }
    path.split('/').find_map(|segment| match segment {
        "" => Some("has an empty segment"),
        "." | ".." => Some("has a `.` or `..` segment"),
        _ if segment.len() > SEGMENT_BYTES_MAX => Some("has a segment longer than 255 bytes"),
        _ => None,
    })
}

impl TryFrom<String> for TreePath {
    type Error = PathError;
    fn try_from(path: String) -> Result<Self, PathError> {
        Self::new(&path)
    }
}

impl std::str::FromStr for TreePath {
    type Err = PathError;
    fn from_str(path: &str) -> Result<Self, PathError> {
        Self::new(path)
    }
}

impl From<TreePath> for String {
    fn from(path: TreePath) -> Self {
        path.0.as_ref().to_owned()
    }
}

impl std::borrow::Borrow<str> for TreePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_could_leave_the_tree_or_confuse_a_file_system_are_refused() {
        let long_segment = "a".repeat(SEGMENT_BYTES_MAX + 1);
        let long_path = "a/".repeat(PATH_BYTES_MAX / 2) + "a";
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "a//b",
            "a/",
            ".",
            "./a",
            "a/../b",
            "..",
            "a\\b",
            "a\0b",
            &long_segment,
            &long_path,
        ] {
            assert!(TreePath::new(bad).is_err(), "{bad:?} must be refused");
        }
        for good in ["truth.json", "a/b/c.md", "...", ".hidden", "sp ace/ü"] {
            assert_eq!(TreePath::new(good).unwrap().as_str(), good);
        }
    }
}
