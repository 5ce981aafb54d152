//! Workers against a scripted coordinator, with real sessions.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod claim;
mod commit;
mod coordinator;
mod drain;
mod lease;
mod session;
mod world;
