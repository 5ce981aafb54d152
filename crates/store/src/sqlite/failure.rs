//! The one place that turns failures of SQLite into errors of the store.

use rusqlite::{ErrorCode, ffi};

use crate::Error;

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let (code, extended) = match &error {
            rusqlite::Error::SqliteFailure(failure, _) => {
                (Some(failure.code), failure.extended_code)
            }
            _ => (None, 0),
        };
        match code {
            Some(ErrorCode::DiskFull) => Self::Full { source: error.into() },
            Some(ErrorCode::SystemIoFailure) if is_lack_of_space(extended) => {
                Self::Full { source: error.into() }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Unavailable { source: error.into() }
            }
            Some(ErrorCode::ConstraintViolation) => Self::Conflict { detail: error.to_string() },
            _ => Self::Failed { source: error.into() },
        }
    }
}

/// A quota, or a full disk under the shared index of the log, is reported as a failed write.
fn is_lack_of_space(extended_code: i32) -> bool {
    matches!(
        extended_code,
        ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_SHMMAP
    )
}

/// Whether the file is not a database, or a damaged one.
pub(super) fn is_unreadable(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}
