//! The shell around the pure core: one operation, one transaction.
//!
//! An operation takes the lock of its reactor, asks the core what to do, and writes what the core
//! said, or nothing. It decides nothing itself. Between operations the state of a reactor is kept
//! in memory; the store's revision tells whether it still holds.

mod cache;
mod engine;
mod error;
mod operation;
mod ops;
mod outbox;
mod parallel;
mod program;
mod query;
mod relay;
mod sealer;
mod signals;

pub use engine::{Clock, Engine, Options, SystemClock};
pub use error::{Error, EventProblem};
pub use ops::{
    CommitAnswer, CommitRequest, EventOutcome, EventStatus, IncomingEvent, Mounted, PinnedFiles,
    RenderLease, SessionResult, WORK_POOL,
};
pub use query::{Explanation, Move, MovedWhat, NodeReport, ReactorReport};

/// Events that one call may bring.
pub const EVENTS_MAX: usize = 1_000;
/// The largest single event, in bytes of JSON text.
pub const EVENT_BYTES_MAX: usize = 1 << 20;
