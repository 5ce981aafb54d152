//! Sessions: the task folder and the adapters that run in it.

mod command;
mod environment;
mod failure;
mod folder;
pub mod jq;
mod limits;
mod outcome;
mod process;
mod task;
mod tree;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

pub use command::Command;
pub use environment::{BASE, Environment, SESSION_VAR, TASK_VAR, TMPDIR_VAR};
pub use failure::{FailureCode, SessionFailure};
pub use folder::{FolderError, TaskFolder};
pub use jq::Jq;
pub use limits::Limits;
pub use outcome::{Outcome, Status, Usage};
pub use task::{Attest, Input, Producer, Source, Task, TaskInput, TaskLimits, TaskSpec, Wake};

/// Something that runs a session in a task folder.
///
/// Whatever happens, `run` answers within the limits, and no process of the session is alive
/// afterwards; dropping the future kills the session as well.
#[async_trait]
pub trait Harness: Send + Sync {
    /// The name receipts show.
    fn name(&self) -> &str;

    /// The model it is configured to use, if it knows.
    fn model(&self) -> Option<&str>;

    /// Runs one session to its end, or stops it at the deadline or when `stop` fires.
    ///
    /// # Errors
    ///
    /// An infrastructure failure; a session that says it failed is an [`Outcome`].
    async fn run(
        &self,
        folder: &TaskFolder,
        environment: &Environment,
        limits: &Limits,
        stop: CancellationToken,
    ) -> Result<Outcome, SessionFailure>;
}
