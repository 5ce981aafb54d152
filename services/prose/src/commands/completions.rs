//! `prose completions`

use clap::CommandFactory;

use super::Context;
use crate::{
    cli::{Cli, Completions},
    error::{Error, Exit},
};

pub(super) fn run(context: &Context, completions: &Completions) -> Result<Exit, Error> {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut Cli::command(), "prose", &mut script);
    context.output.text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}
