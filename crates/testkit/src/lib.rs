//! Helpers for tests only: throw-away projects, and waiting for a condition.
//!
//! They panic where a test would: a helper that fails is a failed test.

mod project;
mod wait;

pub use project::Project;
pub use wait::wait_for;
