//! Behaviour of ledgers through the crate's public doors.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod build;
mod cost;
mod keys;
mod receipt;
mod verification;
