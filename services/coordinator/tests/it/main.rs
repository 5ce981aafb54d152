//! A coordinator behind a real client, in this process.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod asking;
mod refusals;
mod stopping;
mod support;
mod working;
