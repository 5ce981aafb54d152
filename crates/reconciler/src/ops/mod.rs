//! The operations of the protocol, one a file. Each ends by settling what it woke.

mod advance;
mod claim;
mod command;
mod commit;
mod ingest;
mod mount;

pub use claim::{Claim, Lease};
pub use command::Refused;
pub use commit::{CommitError, Outcome, Published};
pub use ingest::{Arrival, EventOutcome};
pub use mount::TopologyTruth;
