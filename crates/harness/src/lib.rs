//! Sessions: the task folder and the adapters that run in it.
//!
//! # For those who write an agent
//!
//! An agent is any program. It is started in a *task folder*, reads what it finds there, and has
//! done its work when it leaves a new truth and says so:
//!
//! ```text
//! contract.md        the contract, as authored                                   read-only
//! task.json          what to do: see below                                       read-only
//! functions/*.md     the functions the contract calls                            read-only
//! inputs/<need>/     the pinned tree of what the node subscribes to              read-only
//! events/0001.json   a gateway's events, oldest first                            read-only
//! prior/             the published truth before this render                      read-only
//! workspace/         scratch, also TMPDIR; thrown away
//! published/         begins as a copy of prior/; what it holds at the end is the new truth
//! result.json        written by the agent, last
//! ```
//!
//! `task.json` is a [`Task`]: `node`, `attempt`, `wake` (`source`, `refs`, `cause`), `as_of` (the
//! time to use as now), `facets` (each is `published/<facet>/truth.json`, the shared fields are
//! `published/truth.json`), `inputs` (with `fan_in: true`, each producer has a folder of its own
//! below `inputs/<need>/`; `published: false` means that it has nothing yet), `attest` (conditions
//! that only the agent can judge), `tools`, `environment` (names), `answers`, `limits`.
//!
//! `result.json` is one object. `status` is required; no other keys than these are allowed:
//!
//! ```json
//! {
//!   "status": "rendered",
//!   "attestations": { "c1": true },
//!   "diff": "round B was announced",
//!   "usage": { "fresh_tokens": 1200, "reused_tokens": 300, "model": "some-model" }
//! }
//! ```
//!
//! ```json
//! { "status": "failed", "reason": "the source asks for a login", "needs": "a login for it" }
//! ```
//!
//! - *Rendered* offers `published/` to the gate. *Failed*, with its `reason`, means that the work
//!   cannot be done on this data; it is not tried again until something changes. `needs` asks a
//!   person.
//! - Everything else is an [infrastructure failure](SessionFailure) and is tried again: an exit code
//!   other than zero, no or another `result.json`, a link in `published/`, a file written anywhere
//!   else than in `published/` and `workspace/`, going past a limit, leaving processes behind.
//! - Standard input is empty. Standard output and error are for people: a tail of it explains a
//!   failure.
//! - The environment is `PATH`, `HOME`, `LANG`, `TZ`, `TMPDIR`, the names the contract lists,
//!   `PROSE_TASK` (the folder) and `PROSE_SESSION`. The last one marks the agent's processes: all
//!   that carry it are killed when the agent ends, so pass it on.
//! - At the deadline all processes get TERM, and after a short grace KILL.
//!
//! A whole agent:
//!
//! ```sh
//! size=$(wc -c < contract.md)
//! printf '{"size": %s}' "$size" > published/truth.json
//! printf '{"status": "rendered"}' > result.json
//! ```

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
