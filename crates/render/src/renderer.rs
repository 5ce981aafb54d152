//! One render, from its lease to its commit.

use std::{collections::BTreeMap, io, path::PathBuf, sync::Arc, time::Instant};

use prose_api::v1::{self, commit_request::Outcome as Verdict};
use prose_harness::{Environment, Harness, Limits, TaskFolder, TaskSpec};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    chain, commit,
    harnesses::{Harnesses, Ready},
    task::task,
};

/// How renders run on this machine.
#[derive(Debug, Clone, Default)]
pub struct RenderOptions {
    /// What a session may use.
    pub limits: Limits,
    /// Where task folders are made; nobody else's.
    pub scratch: PathBuf,
    /// The variables of this machine, of which a session sees those it may.
    pub environment: BTreeMap<String, String>,
}

/// Renders on this machine. Clones share what they hold.
#[derive(Clone)]
pub struct Renderer {
    shared: Arc<Shared>,
}

struct Shared {
    options: RenderOptions,
    harnesses: Ready,
}

impl Renderer {
    /// A renderer; reads the programs of jq harnesses. A harness that cannot run fails the renders
    /// that need it: [`Harnesses::check`] finds it before.
    #[must_use]
    pub fn new(options: RenderOptions, harnesses: &Harnesses) -> Self {
        let harnesses = Ready::new(harnesses);
        Self { shared: Arc::new(Shared { options, harnesses }) }
    }

    /// Clears the scratch folder of what a killed worker left in it, processes included, and says
    /// how many folders there were. For the start: it ends running sessions of this folder too.
    ///
    /// # Errors
    /// What the file system says.
    pub async fn sweep(&self) -> io::Result<usize> {
        let scratch = self.shared.options.scratch.clone();
        let swept = tokio::task::spawn_blocking(move || TaskFolder::sweep(&scratch)).await;
        swept.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Renders what `lease` asks for. Whatever happens, panics included, there is a commit, and
    /// neither process nor folder is left. When `stop` fires, the session is ended and the commit
    /// says so. Dropping the future has the same effect without a commit.
    pub async fn render(&self, lease: v1::Lease, stop: CancellationToken) -> v1::CommitRequest {
        let started = Instant::now();
        let key = (lease.reactor.clone(), lease.node.clone(), lease.fence);
        let shared = Arc::clone(&self.shared);
        let run =
            AbortOnDropHandle::new(tokio::spawn(async move { shared.run(lease, stop).await }));
        let (verdict, usage) = run.await.unwrap_or_else(|error| {
            let what = if error.is_panic() { "has a defect: it panicked" } else { "is stopping" };
            (commit::infrastructure(format!("the worker {what}")), v1::Usage::default())
        });
        commit::request(key, verdict, usage, started.elapsed())
    }
}

impl Shared {
    async fn run(&self, lease: v1::Lease, stop: CancellationToken) -> (Verdict, v1::Usage) {
        let harness = match self.harnesses.of(&lease.node) {
            Ok(harness) => harness,
            Err(reason) => return (commit::infrastructure(reason), v1::Usage::default()),
        };
        let (verdict, used) = match self.prepare(lease).await {
            Ok(ready) => self.session(&*harness, ready, stop).await,
            Err(reason) => (commit::infrastructure(reason), Default::default()),
        };
        (verdict, commit::usage(harness.name(), harness.model(), used))
    }

    /// The folder and the environment of the session, or why there are none.
    async fn prepare(&self, lease: v1::Lease) -> Result<(TaskFolder, Environment), String> {
        let spec = task(&lease, &self.options.limits).map_err(|error| chain(&error))?;
        let environment = self.environment(&spec)?;
        let scratch = self.options.scratch.clone();
        let made = tokio::task::spawn_blocking(move || TaskFolder::create(&scratch, &spec)).await;
        let made = made.map_err(|error| format!("the task folder could not be made: {error}"))?;
        Ok((made.map_err(|error| chain(&error))?, environment))
    }

    async fn session(
        &self,
        harness: &dyn Harness,
        (folder, environment): (TaskFolder, Environment),
        stop: CancellationToken,
    ) -> (Verdict, prose_harness::Usage) {
        let ran = harness.run(&folder, &environment, &self.options.limits, stop).await;
        // Removing many files takes a while. A folder that stays is logged, and swept at a start.
        let _ = tokio::task::spawn_blocking(move || drop(folder)).await;
        match ran {
            Ok(mut outcome) => {
                let used = std::mem::take(&mut outcome.usage);
                (commit::verdict(outcome), used)
            }
            Err(failure) => (commit::failure(&failure), Default::default()),
        }
    }

    fn environment(&self, spec: &TaskSpec) -> Result<Environment, String> {
        let environment = Environment::select(self.options.environment.clone(), &spec.environment);
        match environment.missing() {
            [] => Ok(environment),
            missing => {
                Err(format!("the worker's environment has no value for {}", missing.join(", ")))
            }
        }
    }
}
