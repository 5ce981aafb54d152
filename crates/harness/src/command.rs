//! The `command` harness: any program that speaks the task folder.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Harness;
use crate::environment::{Environment, TASK_VAR, TMPDIR_VAR};
use crate::failure::{FailureCode, SessionFailure};
use crate::folder::{TaskFolder, WORKSPACE};
use crate::limits::Limits;
use crate::outcome::{self, Outcome};
use crate::process::{self, Launch};

/// Runs a program in the task folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// A bare name is looked up on the session's `PATH`; a relative path starts at `base`.
    pub program: PathBuf,
    /// Passed as they are.
    pub args: Vec<OsString>,
    /// What relative program paths are relative to: the project.
    pub base: PathBuf,
    /// The model the program uses, for receipts; a session may name another in its result.
    pub model: Option<String>,
}

#[async_trait]
impl Harness for Command {
    fn name(&self) -> &'static str {
        "command"
    }

    fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    async fn run(
        &self,
        folder: &TaskFolder,
        environment: &Environment,
        limits: &Limits,
        stop: CancellationToken,
    ) -> Result<Outcome, SessionFailure> {
        let started = Instant::now();
        let redactor = environment.redactor();
        let launch = Launch {
            program: find(&self.program, &self.base, environment)?,
            args: &self.args,
            folder: folder.root(),
            variables: variables(folder, environment),
            session: folder.session().to_string(),
        };
        let ended = process::run(launch, limits, &redactor, &stop).await?;
        if let Some(failure) = ended.failure {
            return Err(failure);
        }
        let (duration, folder, limits) = (started.elapsed(), folder.clone(), limits.clone());
        let collect = move || outcome::collect(&folder, &limits, &redactor, duration);
        match tokio::task::spawn_blocking(collect).await {
            Ok(collected) => collected.map_err(|failure| failure.with_tail(&ended.tail)),
            Err(_) => Err(SessionFailure::new(
                FailureCode::Cancelled,
                "the worker stopped before the session's result was read",
            )),
        }
    }
}

fn variables(folder: &TaskFolder, environment: &Environment) -> Vec<(OsString, OsString)> {
    let chosen = environment.variables().map(|(name, value)| (name.into(), value.clone()));
    let ours = [
        (TASK_VAR.into(), folder.root().into()),
        (TMPDIR_VAR.into(), folder.root().join(WORKSPACE).into()),
    ];
    chosen.chain(ours).collect()
}

/// The file to execute.
fn find(program: &Path, base: &Path, environment: &Environment) -> Result<PathBuf, SessionFailure> {
    if program.components().count() != 1 || program.is_absolute() {
        // `join` keeps an absolute path as it is.
        return Ok(base.join(program));
    }
    let path = environment.path().unwrap_or_default();
    let candidates = || std::env::split_paths(path).filter(|dir| dir.is_absolute());
    let found = candidates().map(|dir| dir.join(program)).find(|file| is_executable(file));
    found.ok_or_else(|| {
        let reason = format!("no program named {} on the PATH", program.display());
        SessionFailure::new(FailureCode::ProgramNotFound, reason)
    })
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
