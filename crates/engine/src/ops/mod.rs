//! The operations, one a file; each is one transaction.

mod advance;
mod arrival;
mod claim;
mod command;
mod commit;
mod ingest;
mod mount;

pub use claim::{PinnedFiles, RenderLease};
pub use commit::{CommitAnswer, CommitRequest, SessionResult};
pub use ingest::{EventOutcome, EventStatus, IncomingEvent};
pub use mount::Mounted;

/// The pool of workers that takes all work.
pub const WORK_POOL: &str = "default";
