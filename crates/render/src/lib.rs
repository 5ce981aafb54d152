//! The worker: claim, task folder, session, result, commit.
//!
//! This half knows no wire: a [`Work`] is what a claim hands out, a [`Report`] is what a commit
//! hands in. In between a harness runs in a task folder.

mod report;
mod run;
mod work;

pub use report::{Cost, Infrastructure, Report, Verdict};
pub use run::Renderer;
pub use work::{Pinned, Work, WorkError};
