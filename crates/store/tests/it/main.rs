//! The SQLite store, from outside.
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod conformance;
mod folder;
mod full;
mod quiet;
