//! Render workers.
//!
//! A worker waits on the bus for hints that nodes are ready, claims them from the coordinator,
//! renders them, keeps each lease alive while it does, and commits what came of it. It decides
//! nothing: a hint that is wrong, a lease that is lost and a commit that comes late cost a call.

mod backoff;
mod call;
mod commit;
mod job;
mod lease;
mod pull;
mod worker;

pub use worker::{Options, Worker};
