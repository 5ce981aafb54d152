//! Behaviour of truths through the crate's public doors.

mod canonicalizer;
mod document;
mod gate;
mod tree;
