//! The worker's render: a lease becomes a task folder, a session runs in it, and what it came to
//! becomes a commit. The loop around it, with leases and heartbeats, is the worker service.

mod harnesses;
mod report;
mod run;
mod wire;
mod work;

pub use harnesses::{HarnessSpec, Harnesses, JqCommand};
pub use report::{Cost, Infrastructure, Report, Verdict};
pub use run::Renderer;
pub use wire::LeaseError;
pub use work::{Pinned, Work, WorkError};
