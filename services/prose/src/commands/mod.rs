//! One command, one file.

mod cancel;
pub(crate) mod compile;
mod completions;
mod doctor;
mod explain;
mod init;
mod receipts;
mod render;
mod retry;
mod show;
mod status;
mod topology;
mod trigger;
mod up;
mod watch;

use std::path::PathBuf;

use crate::{
    cli::{Cli, Command, Common},
    error::{Error, Exit},
    project::Project,
    show::Output,
};

/// What every command is given.
#[derive(Debug)]
pub(crate) struct Context {
    pub common: Common,
    pub output: Output,
}

impl Context {
    /// The project in `dir`, else in the folder named for all commands, else around the working
    /// folder.
    pub fn project(&self, dir: Option<&PathBuf>) -> Result<Project, Error> {
        Project::find(dir.or(self.common.project.as_ref()).map(PathBuf::as_path))
    }

    /// The reactor that is spoken of.
    pub fn reactor(&self, project: &Project) -> String {
        self.common.reactor.clone().unwrap_or_else(|| project.reactor())
    }
}

/// Runs a command.
pub(crate) fn run(cli: Cli, output: Output) -> Result<Exit, Error> {
    log(cli.common.verbose)?;
    let context = Context { common: cli.common, output };
    match cli.command {
        Command::Init(folder) => init::run(&context, folder),
        Command::Compile(folder) => compile::run(&context, &folder),
        Command::Completions(completions) => completions::run(&context, &completions),
        command => runtime()?.block_on(talk(&context, command)),
    }
}

/// The commands that talk to a coordinator.
async fn talk(context: &Context, command: Command) -> Result<Exit, Error> {
    match command {
        Command::Up(up) => up::run(context, up).await,
        Command::Trigger(trigger) => trigger::run(context, trigger).await,
        Command::Status(folder) => status::run(context, &folder).await,
        Command::Topology(topology) => topology::run(context, &topology).await,
        Command::Show(node) => show::run(context, node).await,
        Command::Explain(node) => explain::run(context, node).await,
        Command::Receipts(receipts) => receipts::run(context, receipts).await,
        Command::Watch(watch) => watch::run(context, watch).await,
        Command::Retry(node) => retry::run(context, node).await,
        Command::Render(render) => render::run(context, render).await,
        Command::Cancel(node) => cancel::run(context, node).await,
        Command::Doctor(folder) => doctor::run(context, &folder).await,
        Command::Init(_) | Command::Compile(_) | Command::Completions(_) | Command::Session(_) => {
            Ok(Exit::Fine)
        }
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Runtime::new().map_err(|error| Error {
        code: "no_threads".into(),
        message: format!("the system gave no threads: {error}"),
        help: None,
        exit: Exit::Unable,
    })
}

fn log(verbose: u8) -> Result<(), Error> {
    let filter = std::env::var("PROSE_LOG").unwrap_or_else(|_| {
        match verbose {
            0 => "warn",
            1 => "info",
            _ => "debug",
        }
        .to_owned()
    });
    prose_telemetry::init(&prose_telemetry::Options { filter, ..Default::default() })?;
    Ok(())
}
