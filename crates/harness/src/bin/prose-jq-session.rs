//! One session of the `jq` harness, for whoever embeds this crate without the `prose` command:
//! `prose-jq-session FILE` runs the jq program in FILE over the task folder it stands in.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match (args.next(), args.next()) {
        (Some(program), None) => prose_harness::jq::main(Path::new(&program)),
        _ => {
            eprintln!("usage: prose-jq-session FILE");
            ExitCode::from(2)
        }
    }
}
