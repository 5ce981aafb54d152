//! Why a store could not do what it was asked.

use std::path::PathBuf;

/// The cause below an [`Error`], of whatever library the implementation stands on.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another process works on this state.
    #[error(
        "the state in {} is held by {}; stop that process, or use another folder",
        folder.display(),
        pid.map_or("another process".into(), |pid| format!("process {pid}"))
    )]
    Locked {
        /// The state folder.
        folder: PathBuf,
        /// The holder, where it could be read.
        pid: Option<u32>,
    },
    /// The state was written by a newer version of this program.
    #[error(
        "the state has version {found}, this program knows versions up to {known}; \
         use the newer program, or move the state folder away to start afresh"
    )]
    Newer {
        /// The version found.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// What is stored there is no state of ours, or it is damaged.
    #[error(
        "cannot read {} as a state of this program; \
         restore it from a backup, or move it away to start afresh",
        path.display()
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the database said.
        #[source]
        source: Cause,
    },
    /// The disk, or the share of it that we may use, is full. Nothing was written; the same
    /// operation works as soon as there is space.
    #[error("no space left to store the state; nothing was lost, make space and try again")]
    Full {
        /// What the database said.
        #[source]
        source: Cause,
    },
    /// The changes do not continue what is stored. Nothing was written.
    #[error("the changes do not continue what is stored: {detail}")]
    Conflict {
        /// Which rule would have been broken.
        detail: String,
    },
    /// The database did not answer in time or is away.
    #[error("the state store is not available at the moment")]
    Unavailable {
        /// What the database said.
        #[source]
        source: Cause,
    },
    /// The store was shut down, or its thread has ended.
    #[error("the state store has been closed")]
    Closed,
    /// A file or folder of the state could not be used.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Any other failure of the database.
    #[error("the state store failed")]
    Failed {
        /// What the database said.
        #[source]
        source: Cause,
    },
}

impl Error {
    /// The stable code, for users and for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Locked { .. } => "state_locked",
            Self::Newer { .. } => "state_newer",
            Self::Unreadable { .. } => "state_unreadable",
            Self::Full { .. } => "storage_full",
            Self::Conflict { .. } => "store_conflict",
            Self::Unavailable { .. } => "store_unavailable",
            Self::Closed => "store_closed",
            Self::Io { .. } => "state_io",
            Self::Failed { .. } => "store_failed",
        }
    }

    /// Whether the same operation may succeed later without anything being repaired in between.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::Unavailable { .. })
    }
}
