//! The content-addressed form of a truth: which files it has and what their bytes hash to.

use std::collections::BTreeMap;

use prose_ir::Address;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{PathError, TreePath, json};

const KIND: &str = "prose.tree";
const VERSION: u32 = 1;

/// Whether `bytes` are what `address` stands for.
pub fn verify(address: &Address, bytes: &[u8]) -> bool {
    Address::of(bytes) == *address
}

/// How large a truth may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Number of files.
    pub files_max: usize,
    /// Bytes of all files together.
    pub bytes_max: u64,
}

impl Limits {
    /// Files allowed unless an operator says otherwise.
    pub const FILES_MAX: usize = 10_000;
    /// Bytes allowed unless an operator says otherwise.
    pub const BYTES_MAX: u64 = 64 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self { files_max: Self::FILES_MAX, bytes_max: Self::BYTES_MAX }
    }
}

/// One file of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The address of its bytes.
    pub blob: Address,
    /// Their number.
    pub size: u64,
}

/// The files of a truth by path.
///
/// No path is at once a file and a folder: [`Tree::new`] and [`Tree::parse`] uphold it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<TreePath, Entry>,
}

/// Why something is no truth tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// A path breaks the rules.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A path is at once a file and a folder.
    #[error("`{0}` is both a file and a folder")]
    Conflict(String),
    /// Too many files.
    #[error("{files} files are more than the {limit} allowed")]
    TooManyFiles {
        /// How many there are.
        files: usize,
        /// How many there may be.
        limit: usize,
    },
    /// Too many bytes.
    #[error("{bytes} bytes are more than the {limit} allowed")]
    TooManyBytes {
        /// How many there are.
        bytes: u64,
        /// How many there may be.
        limit: u64,
    },
    /// Stored bytes that are not the canonical form of a tree.
    #[error("not a stored tree: {0}")]
    Malformed(String),
}

impl TreeError {
    /// Stable code for people and programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Path(error) => error.code(),
            Self::Conflict(_) => "tree_conflict",
            Self::TooManyFiles { .. } => "tree_files_limit",
            Self::TooManyBytes { .. } => "tree_bytes_limit",
            Self::Malformed(_) => "tree_malformed",
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    files: BTreeMap<TreePath, Entry>,
    kind: String,
    version: u32,
}

impl Tree {
    /// A tree of `files`.
    ///
    /// # Errors
    /// When a path is both a file and a folder.
    pub fn new(files: BTreeMap<TreePath, Entry>) -> Result<Self, TreeError> {
        for path in files.keys() {
            if let Some(parent) = path.parents().find(|parent| files.contains_key(*parent)) {
                return Err(TreeError::Conflict(parent.to_owned()));
            }
        }
        Ok(Self { files })
    }

    /// Reads canonical bytes back.
    ///
    /// # Errors
    /// When they are anything but what [`Tree::to_bytes`] writes.
    pub fn parse(bytes: &[u8]) -> Result<Self, TreeError> {
        let malformed = |problem: &str| TreeError::Malformed(problem.to_owned());
        let stored: Stored =
            serde_json::from_slice(bytes).map_err(|error| malformed(&error.to_string()))?;
        if stored.kind != KIND || stored.version != VERSION {
            return Err(malformed("of another kind or version"));
        }
        let tree = Self::new(stored.files)?;
        if tree.to_bytes() != bytes {
            return Err(malformed("the bytes are not in canonical form"));
        }
        Ok(tree)
    }

    /// Checks the tree against `limits`.
    ///
    /// # Errors
    /// When it has too many files or bytes.
    pub fn check(&self, limits: &Limits) -> Result<(), TreeError> {
        if self.files.len() > limits.files_max {
            return Err(TreeError::TooManyFiles {
                files: self.files.len(),
                limit: limits.files_max,
            });
        }
        let bytes = self.bytes();
        if bytes > limits.bytes_max {
            return Err(TreeError::TooManyBytes { bytes, limit: limits.bytes_max });
        }
        Ok(())
    }

    /// The bytes that are stored and hashed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let files = self.files.iter().map(|(path, entry)| {
            let entry = serde_json::json!({"blob": entry.blob.as_str(), "size": entry.size});
            (path.as_str().to_owned(), entry)
        });
        json::canonical(&serde_json::json!({
            "files": Value::Object(files.collect()),
            "kind": KIND,
            "version": VERSION,
        }))
    }

    /// The address of the tree.
    pub fn address(&self) -> Address {
        Address::of(&self.to_bytes())
    }

    /// The files in order of path.
    pub fn files(&self) -> &BTreeMap<TreePath, Entry> {
        &self.files
    }

    /// Bytes of all files together.
    pub fn bytes(&self) -> u64 {
        self.files.values().fold(0, |sum, entry| sum.saturating_add(entry.size))
    }
}
