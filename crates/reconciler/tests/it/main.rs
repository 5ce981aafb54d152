//! The core through its public door: random runs against a sequential oracle, small graphs
//! exhaustively, and the operations one by one.

mod invariants;
mod model;
mod operations;
mod oracle;
mod sim;
mod world;
