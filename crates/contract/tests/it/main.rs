//! The reader of contracts through its public doors.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

mod model;
mod rendering;
mod robust;
