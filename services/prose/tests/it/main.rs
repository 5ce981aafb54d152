//! The program as people and scripts use it: arguments in, text and exit codes out.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a failed test")]

mod bad_input;
mod compile;
mod config;
mod feed;
mod help;
mod ledger;
mod readme;
mod running;
mod support;
mod up;
