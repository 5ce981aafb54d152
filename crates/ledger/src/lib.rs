//! Receipts: what was decided, chained and signed so that anyone can check it offline.
//!
//! Everything here is a function of its arguments; times and secret keys come in from outside. The
//! crate knows receipts and how they prove each other; it does not know why a decision was made.

mod canonical;
mod cost;
mod error;
mod form;
mod head;
mod hex;
mod moment;
mod outcome;
mod receipt;
mod sealed;
mod signature;
mod signer;
pub mod verify;

pub use cost::{CostSummary, NodeCost, Tally};
pub use error::ReceiptError;
pub use form::{Kind, Version};
pub use head::{Head, SignedHead};
pub use moment::Moment;
pub use outcome::{Cost, Failure, FailureClass, SurpriseCause, Tokens};
pub use receipt::{Cut, InputFingerprint, Receipt, Status, Wake, WakeSource, Waves};
pub use sealed::{Addressed, Sealed, seal};
pub use signature::Sig;
pub use signer::{KeyError, KeyRing, Signer};
