//! What can be asked. Nothing here takes the lock of the store or writes.

mod explain;
mod ledger;
mod status;
mod truth;

pub use explain::{Explanation, Move, MovedWhat};
pub use status::{NodeReport, ReactorReport};
