//! Behaviour of truths through the crate's public doors.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod canonicalizer;
mod conditions;
mod document;
mod gate;
mod tree;
