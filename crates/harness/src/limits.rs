//! What a session may use.

use std::time::Duration;

/// How long a session may run unless the operator says otherwise.
pub const DEADLINE: Duration = Duration::from_secs(15 * 60);
/// How long a session has between TERM and KILL.
pub const GRACE: Duration = Duration::from_secs(5);
/// How long helpers of a session may outlive its leader before they count as left behind.
pub const LINGER: Duration = Duration::from_millis(300);
/// How many bytes a session may print.
pub const OUTPUT_BYTES: u64 = 16 << 20;
/// How many files (and folders) `published/` may hold.
pub const PUBLISHED_FILES: usize = 10_000;
/// How many bytes `published/` may hold in all.
pub const PUBLISHED_BYTES: u64 = 64 << 20;
/// How long `result.json` may be.
pub const RESULT_BYTES: u64 = 1 << 20;
/// How much of the end of a session's output is kept to explain a failure.
pub const TAIL_BYTES: usize = 4 << 10;

/// The caps of one session.
///
/// A session is over after at most `deadline + grace`, plus a moment for the kernel to tear down
/// what was killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// From start to TERM.
    pub deadline: Duration,
    /// From TERM to KILL.
    pub grace: Duration,
    /// How long helper processes may outlive the session's leader.
    pub linger: Duration,
    /// Bytes printed, on standard output and standard error together.
    pub output_bytes: u64,
    /// Files and folders in `published/`.
    pub published_files: usize,
    /// Bytes in `published/`.
    pub published_bytes: u64,
    /// Bytes of `result.json`.
    pub result_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: DEADLINE,
            grace: GRACE,
            linger: LINGER,
            output_bytes: OUTPUT_BYTES,
            published_files: PUBLISHED_FILES,
            published_bytes: PUBLISHED_BYTES,
            result_bytes: RESULT_BYTES,
        }
    }
}
