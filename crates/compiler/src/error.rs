//! Why a compile could not even begin, or its result not be kept.

use std::{
    io,
    path::{Path, PathBuf},
};

use prose_ir::BundleError;

/// A failure outside the contracts themselves.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The source root is missing or cannot be listed.
    #[error("the source folder {} cannot be read", .path.display())]
    Root {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The source root holds no contract.
    #[error("no `*.prose.md` file under {}", .0.display())]
    Empty(PathBuf),
    /// A file of `dist` cannot be written.
    #[error("{} cannot be written", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of `dist` cannot be read.
    #[error("{} cannot be read", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of `dist` is not what it should be.
    #[error("{} is not what a compile writes", .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// The bundle breaks its own rules.
    #[error(transparent)]
    Bundle(#[from] BundleError),
}

impl Error {
    /// The stable code users see.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Root { .. } => "source_unreadable",
            Self::Empty(_) => "source_empty",
            Self::Write { .. } => "dist_unwritable",
            Self::Read { .. } => "dist_unreadable",
            Self::Json { .. } => "dist_malformed",
            Self::Bundle(_) => "manifest_invalid",
        }
    }

    pub(crate) fn root(path: &Path, source: io::Error) -> Self {
        Self::Root { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }
}
