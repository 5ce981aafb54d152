//! The engine over a real store: every operation, and what must hold whatever happens in between.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod commands;
mod commits;
mod feeds;
mod gateways;
mod ingest;
mod interrupted;
mod mount;
mod queries;
mod restart;
mod retries;
mod support;
mod together;
