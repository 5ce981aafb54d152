//! One command, one file.

mod compile;
mod completions;
mod init;
mod topology;

use std::path::PathBuf;

use crate::{
    cli::{Cli, Command, Common},
    error::{Error, Exit},
    project::Project,
    show::Output,
};

/// What every command is given.
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
}

/// Runs a command.
pub(crate) fn run(cli: Cli, output: Output) -> Result<Exit, Error> {
    log(cli.common.verbose)?;
    let context = Context { common: cli.common, output };
    match cli.command {
        Command::Init(folder) => init::run(&context, folder),
        Command::Compile(folder) => compile::run(&context, &folder),
        Command::Topology(topology) => topology::run(&context, &topology),
        Command::Completions(completions) => completions::run(&context, &completions),
        _ => Ok(Exit::Fine),
    }
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
