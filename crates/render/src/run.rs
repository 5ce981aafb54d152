//! One render, from the work to its report.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use prose_harness::{Environment, Harness, Limits, Outcome, TaskFolder, Usage};
use tokio_util::sync::CancellationToken;

use crate::harnesses::Harnesses;
use crate::report::{Cost, Report, Verdict};
use crate::work::Work;

/// Renders on this machine.
#[derive(Clone)]
pub struct Renderer {
    /// Where task folders are made; nobody else's.
    pub folder: PathBuf,
    /// The variables of this machine, of which a session sees those it may.
    pub host: BTreeMap<OsString, OsString>,
    /// What a session may use.
    pub limits: Limits,
}

impl Renderer {
    /// Renders `work` with `harness`. Whatever happens, there is a report, and neither process nor
    /// folder is left; dropping the future has the same effect without a report.
    pub async fn render(
        &self,
        work: &Work,
        harness: &dyn Harness,
        stop: CancellationToken,
    ) -> Report {
        let started = Instant::now();
        let (verdict, usage) = match self.session(work, harness, stop).await {
            Ok(outcome) => {
                let usage = outcome.usage.clone();
                (Verdict::from(outcome), usage)
            }
            Err(verdict) => (verdict, Usage::default()),
        };
        let model = usage.model.or_else(|| harness.model().map(str::to_owned));
        let cost = Cost {
            harness: harness.name().to_owned(),
            model,
            fresh_tokens: usage.fresh_tokens,
            reused_tokens: usage.reused_tokens,
            duration: started.elapsed(),
        };
        Report { verdict, cost }
    }

    /// Renders `work` with the harness that the operator has chosen for its node.
    pub async fn render_with(
        &self,
        work: &Work,
        harnesses: &Harnesses,
        stop: CancellationToken,
    ) -> Report {
        match harnesses.find(&work.contract.node) {
            Ok(harness) => self.render(work, harness.as_ref(), stop).await,
            Err(verdict) => Report { verdict, cost: Cost::default() },
        }
    }

    async fn session(
        &self,
        work: &Work,
        harness: &dyn Harness,
        stop: CancellationToken,
    ) -> Result<Outcome, Verdict> {
        let environment = self.environment(work)?;
        let spec = work
            .task(&self.limits)
            .map_err(|error| Verdict::infrastructure("task_unreadable", chain(&error)))?;
        let parent = self.folder.clone();
        let made = tokio::task::spawn_blocking(move || TaskFolder::create(&parent, &spec)).await;
        let folder = match made {
            Ok(Ok(folder)) => folder,
            Ok(Err(error)) => return Err(Verdict::infrastructure(error.code(), chain(&error))),
            Err(_) => {
                let reason = "the worker stopped before the session began".to_owned();
                return Err(Verdict::infrastructure("cancelled", reason));
            }
        };
        let ran = harness.run(&folder, &environment, &self.limits, stop).await;
        // Removing many files takes a while. What fails is logged and swept at the next start.
        let _ = tokio::task::spawn_blocking(move || drop(folder)).await;
        ran.map_err(Verdict::from)
    }

    fn environment(&self, work: &Work) -> Result<Environment, Verdict> {
        let environment = Environment::select(self.host.clone(), &work.contract.environment);
        match environment.missing() {
            [] => Ok(environment),
            missing => {
                let names = missing.join(", ");
                let reason = format!("the worker's environment has no value for {names}");
                Err(Verdict::infrastructure("environment_missing", reason))
            }
        }
    }
}

/// The error and its causes in one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
