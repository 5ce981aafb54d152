//! The `jq` harness: a jq program yields the truth. For nodes that need no judgement and no key.
//!
//! The program gets one object and must yield exactly one object, the whole new truth:
//!
//! ```text
//! .self      the prior truth as one document, or null
//! .inputs    need -> document of its producer; for a fan-in need -> producer -> document
//! .event     a gateway's newest event, or null
//! .events    all events this render consumes, oldest first
//! .wake      {source, refs, cause}
//! .as_of     when the inputs were pinned, RFC 3339
//! .answers   request -> what a person answered
//! ```
//!
//! A document is the shared fields of a truth plus one key per facet; keys of the result that
//! are facets of the node are published as the facets' regions. An input whose producer has never
//! published is null.
//!
//! - `error("...")`, any other error while it runs, and no or several results are the program's
//!   word on this data: the session *failed*, with that message as its reason. A program runs
//!   the same every time, so trying again would not help.
//! - A program that cannot be parsed is an infrastructure failure; [`check`] finds that early.
//! - There is no `now`: two renders of the same inputs must agree. `.as_of` is the time.
//! - All conditions that need attesting are attested as true: who configures a fixed program for a
//!   node vouches for what it yields. What code can check is checked all the same.
//!
//! A program may never end, and nothing inside a process can stop it, so it runs as a child
//! process ([`main`]) under the same limits as any session.

mod document;
mod program;
mod session;

use std::ffi::OsString;
use std::path::PathBuf;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::command::Command;
use crate::environment::Environment;
use crate::failure::{FailureCode, SessionFailure};
use crate::folder::{TaskFolder, WORKSPACE};
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::{Harness, tree};

pub use program::{ProgramError, check};
pub use session::{SessionError, main, session};

/// Where a session finds its program, below the task folder.
const PROGRAM: &str = "program.jq";

/// Runs a jq program in a child process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jq {
    executable: PathBuf,
    args: Vec<OsString>,
    program: String,
}

impl Jq {
    /// A harness that runs `executable args... FILE`, which must call [`main`] with `FILE`.
    ///
    /// # Errors
    ///
    /// A program that is not jq.
    pub fn new(
        executable: PathBuf,
        args: Vec<OsString>,
        program: String,
    ) -> Result<Self, ProgramError> {
        check(&program)?;
        Ok(Self { executable, args, program })
    }
}

#[async_trait]
impl Harness for Jq {
    fn name(&self) -> &'static str {
        "jq"
    }

    fn model(&self) -> Option<&str> {
        None
    }

    async fn run(
        &self,
        folder: &TaskFolder,
        environment: &Environment,
        limits: &Limits,
        stop: CancellationToken,
    ) -> Result<Outcome, SessionFailure> {
        let file = folder.root().join(WORKSPACE).join(PROGRAM);
        tree::write_new(&file, self.program.as_bytes(), tree::FILE_MODE).map_err(|error| {
            let reason = format!("the jq program could not be put in the task folder: {error}");
            SessionFailure::new(FailureCode::FolderUnreadable, reason)
        })?;
        let command = Command {
            program: self.executable.clone(),
            args: self.args.iter().cloned().chain([file.into()]).collect(),
            base: PathBuf::new(),
            model: None,
        };
        command.run(folder, environment, limits, stop).await
    }
}
