//! The core through its public door: random runs against a sequential oracle, small graphs
//! exhaustively, and the operations one by one.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod invariants;
mod model;
mod operations;
mod oracle;
mod sim;
mod world;
