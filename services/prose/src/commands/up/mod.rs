//! `prose up`: coordinator and workers in one process, talking as they would across machines.

mod follow;
mod harnesses;
mod house;
mod ingest;
mod progress;
mod signals;
mod summary;

use prose_api::{Prose, v1};
use prose_compiler::Compilation;
use prose_ir::Bundle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::{house::House, ingest::Intake, progress::Progress};
use super::{Context, compile};
use crate::{
    cli::Up,
    error::{Error, Exit},
    feed::{self, Gateways, Source},
    project::Project,
};

pub(super) async fn run(context: &Context, asked: Up) -> Result<Exit, Error> {
    let project = context.project(asked.folder.dir.as_ref())?;
    let compilation = compile::compile(&project)?;
    if !context.output.json {
        compile::show_diagnostics(context.output, &compilation);
    }
    let Some(bundle) = &compilation.bundle else {
        return Err(not_compiled(&compilation));
    };
    compile::write(&project, &compilation)?;
    // A feed that is not there ends the command before anything begins.
    let source = asked.feed.as_deref().map(|feed| Source::new(feed, &project));
    let feed = source.clone().map(|source| feed::read(source, Gateways::of(bundle))).transpose()?;
    let feed = source.zip(feed);

    let stop = signals::stop();
    let house = House::open(context, &project, &asked).await?;
    let mut running = Running {
        context,
        client: house.client(),
        reactor: context.reactor(&project),
        asked: &asked,
        stop,
    };
    let outcome = running.run(&project, bundle, feed).await;
    house.close().await;
    outcome
}

fn not_compiled(compilation: &Compilation) -> Error {
    let errors = compile::plural(compilation.errors().count(), "error");
    Error {
        code: "contracts_invalid".into(),
        message: format!("the contracts have {errors}; nothing was mounted"),
        help: Some("see them with `prose compile`, then run the same command again".into()),
        exit: Exit::Failed,
    }
}

/// A feed and where it comes from.
type Feed = (Source, tokio::sync::mpsc::Receiver<Result<feed::Line, feed::Error>>);

/// What goes on while the house stands.
struct Running<'a> {
    context: &'a Context,
    client: Prose,
    reactor: String,
    asked: &'a Up,
    stop: CancellationToken,
}

impl Running<'_> {
    async fn run(
        &mut self,
        project: &Project,
        bundle: &Bundle,
        feed: Option<Feed>,
    ) -> Result<Exit, Error> {
        let before = self.receipts().await?;
        let epoch = self.mount(project, bundle).await?;
        let progress = Progress::new(self.asked.exit_when_quiet);
        let follower = self.follow(before, &progress);
        let stop = self.stop.clone();
        let outcome = tokio::select! {
            outcome = self.work(feed, &progress) => outcome.map(Some),
            () = stop.cancelled() => Ok(None),
        };
        follower.abort();
        progress.end();
        // A bad feed is told after the summary of what was done all the same.
        let (intake, bad_feed) = match outcome? {
            Some(worked) => worked,
            None if self.asked.exit_when_quiet => return Err(interrupted()),
            None => return Ok(Exit::Fine),
        };
        if !self.asked.exit_when_quiet {
            return bad_feed.map_or(Ok(Exit::Fine), Err);
        }
        let summary =
            summary::gather(&mut self.client, &self.reactor, epoch, before, intake).await?;
        summary.print(self.context.output)?;
        bad_feed.map_or(Ok(summary.exit()), Err)
    }

    /// Takes in the feed and waits for what was asked: quiet, or the end of the process.
    async fn work(
        &mut self,
        feed: Option<Feed>,
        progress: &Progress,
    ) -> Result<(Intake, Option<Error>), Error> {
        let (mut intake, mut bad_feed) = (Intake::default(), None);
        if let Some((source, mut lines)) = feed {
            let taken = ingest::Ingest {
                client: self.client.clone(),
                reactor: self.reactor.clone(),
                settle_every: self.asked.settle_every,
                source,
                output: self.context.output,
                progress,
            };
            (intake, bad_feed) = taken.run(&mut lines).await;
        }
        let wait = self.asked.exit_when_quiet;
        if wait {
            // A feed that ended badly does not take back what went before it.
            progress.settling();
            self.wait_quiet().await?;
        } else if bad_feed.is_none() {
            self.stop.cancelled().await;
        }
        Ok((intake, bad_feed))
    }

    async fn wait_quiet(&mut self) -> Result<(), Error> {
        let request = v1::WaitQuietRequest { reactor: self.reactor.clone() };
        self.client.wait_quiet(request).await?;
        Ok(())
    }

    /// How many receipts there are.
    async fn receipts(&mut self) -> Result<u64, Error> {
        let answer = self.client.list_reactors(v1::ListReactorsRequest {}).await?.into_inner();
        let own = answer.reactors.into_iter().find(|reactor| reactor.name == self.reactor);
        Ok(own.map_or(0, |reactor| reactor.receipts))
    }

    /// Mounts the bundle and keeps what is mounted beside what was compiled.
    async fn mount(&mut self, project: &Project, bundle: &Bundle) -> Result<u64, Error> {
        let bundle = serde_json::to_vec(bundle).map_err(|error| Error {
            code: "bundle_malformed".into(),
            message: format!("the manifest cannot be written: {error}"),
            help: None,
            exit: Exit::Failed,
        })?;
        let request = v1::MountRequest { reactor: self.reactor.clone(), bundle: bundle.into() };
        let mounted = self.client.mount(request).await?.into_inner();
        house::keep_active(project)?;
        if !self.asked.exit_when_quiet && !self.context.output.json {
            self.context.output.text(&format!(
                "{} is up: epoch {}, at {}",
                self.reactor,
                mounted.epoch,
                project.socket().display()
            ))?;
        }
        Ok(mounted.epoch)
    }

    /// Shows receipts as they come, or counts them where only the summary is wanted.
    fn follow(&self, after: u64, progress: &Progress) -> JoinHandle<()> {
        let output = (!self.asked.exit_when_quiet).then_some(self.context.output);
        let (client, reactor) = (self.client.clone(), self.reactor.clone());
        tokio::spawn(follow::follow(client, reactor, after, output, progress.clone()))
    }
}

fn interrupted() -> Error {
    Error {
        code: "interrupted".into(),
        message: "stopped before everything was settled".into(),
        help: Some("run the same command again; it goes on where it was".into()),
        exit: Exit::Failed,
    }
}
