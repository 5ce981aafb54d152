//! A render worker: pulls work, claims it over gRPC, renders with heartbeats beside, commits.
//!
//! A work message is a hint; the claim decides. A worker holds no state that matters: whatever it
//! was doing when it dies is taken over when its lease runs out, and a late commit is refused.

mod backoff;
mod lease;
mod worker;

pub use worker::{Options, Worker};
