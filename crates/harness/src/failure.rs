//! Why a session gave no outcome.

use std::fmt;

/// The kinds of infrastructure failure; the names are stable and shown to users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FailureCode {
    /// The harness program is on no folder of `PATH`, or the named file does not exist.
    ProgramNotFound,
    /// The harness program exists but the system cannot run it.
    ProgramNotExecutable,
    /// The system refused to start a process.
    SpawnFailed,
    /// The session ran past its deadline and was stopped.
    Timeout,
    /// The session was stopped from outside: lease lost, cancelled, shutting down.
    Cancelled,
    /// The session printed more than it may.
    OutputLimit,
    /// The session ended with an exit code other than zero.
    ExitCode,
    /// The session was ended by a signal that we did not send.
    Signal,
    /// The session's leader ended and left processes running.
    ProcessesLeft,
    /// There is no `result.json`.
    ResultMissing,
    /// `result.json` is not what the protocol says.
    ResultMalformed,
    /// `published/` holds what cannot be a truth: a link, a device, a name that is not text.
    PublishedInvalid,
    /// `published/` holds more than it may.
    PublishedLimit,
    /// A file outside `published/` and `workspace/` appeared, changed or vanished.
    FolderChanged,
    /// The task folder could not be read.
    FolderUnreadable,
}

impl FailureCode {
    /// The stable name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProgramNotFound => "program_not_found",
            Self::ProgramNotExecutable => "program_not_executable",
            Self::SpawnFailed => "spawn_failed",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::OutputLimit => "output_limit",
            Self::ExitCode => "exit_code",
            Self::Signal => "signal",
            Self::ProcessesLeft => "processes_left",
            Self::ResultMissing => "result_missing",
            Self::ResultMalformed => "result_malformed",
            Self::PublishedInvalid => "published_invalid",
            Self::PublishedLimit => "published_limit",
            Self::FolderChanged => "folder_changed",
            Self::FolderUnreadable => "folder_unreadable",
        }
    }
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An infrastructure failure: the session gave nothing that could be judged.
///
/// It says nothing about the contract or the data; the protocol retries it with backoff.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SessionFailure {
    /// What kind.
    pub code: FailureCode,
    /// One sentence for people; values of listed environment variables never stand in it.
    pub reason: String,
    /// The end of what the session printed, such values replaced by their names.
    pub tail: String,
}

impl SessionFailure {
    pub(crate) fn new(code: FailureCode, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), tail: String::new() }
    }

    pub(crate) fn with_tail(mut self, tail: &str) -> Self {
        tail.clone_into(&mut self.tail);
        self
    }

    /// The reason followed by the tail, as a receipt shows it.
    #[must_use]
    pub fn explain(&self) -> String {
        if self.tail.trim().is_empty() {
            self.reason.clone()
        } else {
            format!("{}; the session's last output:\n{}", self.reason, self.tail.trim_end())
        }
    }
}
