//! The compiler through its public doors.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

mod corpus;
mod dist;
mod fingerprints;
mod lowering;
mod malformed;
mod robust;
mod support;
mod wiring;
