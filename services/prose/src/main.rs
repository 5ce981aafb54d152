//! The command line: thin commands over the API, and `up`, which is all of the program in one
//! process.

mod cli;
mod commands;
mod config;
mod connect;
mod error;
mod feed;
mod foreign;
mod key;
mod ledger;
mod nearest;
mod project;
mod show;
mod socket;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    cli::{Cli, Command, Session},
    show::Output,
};

fn main() -> ExitCode {
    let cli = Cli::parse();
    // A session caps the memory of its own process, so nothing else may be set up before.
    if let Command::Session(Session::Jq { program }) = &cli.command {
        return prose_harness::jq::main(program);
    }
    let output = Output::new(&cli.common);
    match commands::run(cli, output) {
        Ok(exit) => exit.into(),
        Err(error) => {
            error.report(output.json, output.color_errors);
            error.exit.into()
        }
    }
}
