//! `prose doctor`

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use serde_json::json;

use super::{Context, compile};
use crate::{
    cli::Folder,
    config::Harness,
    error::{Error, Exit},
    key,
    project::Project,
    show::clean,
    socket,
};

/// What came of one check.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Fine,
    /// Worth knowing; the project works all the same.
    Note,
    Wrong,
}

struct Check {
    what: String,
    verdict: Verdict,
    says: String,
}

pub(super) async fn run(context: &Context, folder: &Folder) -> Result<Exit, Error> {
    let project = context.project(folder.dir.as_ref())?;
    let mut checks = vec![check("project", Ok(project.root.display().to_string()))];
    checks.extend(contracts(&project));
    checks.push(private(&project));
    checks.push(signing(&project));
    checks.push(state(&project).await);
    let wrong = checks.iter().any(|check| check.verdict == Verdict::Wrong);
    show(context, &checks)?;
    Ok(if wrong { Exit::Failed } else { Exit::Fine })
}

fn check(what: &str, outcome: Result<String, String>) -> Check {
    let (verdict, says) = match outcome {
        Ok(says) => (Verdict::Fine, says),
        Err(says) => (Verdict::Wrong, says),
    };
    Check { what: what.to_owned(), verdict, says }
}

fn note(what: &str, says: impl Into<String>) -> Check {
    Check { what: what.to_owned(), verdict: Verdict::Note, says: says.into() }
}

/// The contracts, and a harness for each node that needs one.
fn contracts(project: &Project) -> Vec<Check> {
    let compilation = match compile::compile(project) {
        Ok(compilation) => compilation,
        Err(error) => return vec![check("contracts", Err(error.message))],
    };
    let errors = compilation.errors().count();
    let Some(bundle) = &compilation.bundle else {
        let says = format!("{}; see `prose compile`", compile::plural(errors, "error"));
        return vec![check("contracts", Err(says))];
    };
    let nodes = compile::plural(bundle.contracts.len(), "node");
    let mut checks = vec![check("contracts", Ok(nodes))];
    let renders = |contract: &&prose_ir::Contract| {
        contract.kind != prose_ir::NodeKind::Gateway || contract.execution
    };
    let harnesses = &project.config.harnesses;
    for contract in bundle.contracts.values().filter(renders) {
        let what = format!("harness of {}", contract.node);
        let harness = harnesses.nodes.get(&contract.node).or(harnesses.default.as_ref());
        checks.push(match harness {
            Some(harness) => check(&what, harness_check(project, harness)),
            None => {
                let says = format!("none; add [nodes.{}] to prose.toml", contract.node);
                check(&what, Err(says))
            }
        });
    }
    let unknown = harnesses.nodes.keys().filter(|node| !bundle.contracts.contains_key(*node));
    checks.extend(unknown.map(|node| {
        note(&format!("[nodes.{node}]"), "no contract has this name; nothing uses it")
    }));
    checks
}

fn harness_check(project: &Project, harness: &Harness) -> Result<String, String> {
    match harness {
        Harness::Jq { program } => {
            let path = project.root.join(program);
            let text = fs::read_to_string(&path)
                .map_err(|error| format!("{} cannot be read: {error}", program.display()))?;
            prose_harness::jq::check(&text)
                .map_err(|error| format!("{}: {error}", program.display()))?;
            Ok(format!("jq {}", program.display()))
        }
        Harness::Command { program, .. } => {
            let found = find(&project.root, program);
            found
                .map(|path| path.display().to_string())
                .ok_or_else(|| format!("{program} is neither a program in the project nor on PATH"))
        }
    }
}

/// Where a harness's program is, found as a session finds it.
fn find(root: &Path, program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(root.join(program)).filter(|path| is_executable(path));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

fn private(project: &Project) -> Check {
    let folder = project.private();
    match fs::metadata(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            note("private folder", "not there yet; `prose up` makes it")
        }
        Err(error) => check("private folder", Err(error.to_string())),
        Ok(found) if found.mode() & 0o077 != 0 => {
            let says = format!("open to others: chmod 700 {}", folder.display());
            check("private folder", Err(says))
        }
        Ok(_) => check("private folder", Ok("for the owner only".into())),
    }
}

fn signing(project: &Project) -> Check {
    if !project.config.sign {
        return note("signing key", "signing is turned off; receipts say so");
    }
    match key::read(&project.key()) {
        Ok(None) => note("signing key", "not there yet; `prose up` makes it"),
        Ok(Some(signer)) => {
            check("signing key", Ok(signer.key_id().unwrap_or_default().to_owned()))
        }
        Err(error) => check("signing key", Err(Error::from(error).message)),
    }
}

async fn state(project: &Project) -> Check {
    if socket::connect(&project.socket()).await.is_some() {
        return check("state", Ok("`prose up` is running".into()));
    }
    if !project.state().is_dir() {
        return note("state", "nothing was ever run here");
    }
    match prose_store::SqliteStore::open(&project.state()) {
        Ok(_) => check("state", Ok("readable, and nobody holds it".into())),
        Err(error) => check("state", Err(Error::from(error).message)),
    }
}

fn show(context: &Context, checks: &[Check]) -> Result<(), Error> {
    let output = context.output;
    let word = |verdict| match verdict {
        Verdict::Fine => "ok",
        Verdict::Note => "note",
        Verdict::Wrong => "wrong",
    };
    if output.json {
        let checks: Vec<_> = checks
            .iter()
            .map(|c| json!({"check": c.what, "verdict": word(c.verdict), "says": c.says}))
            .collect();
        return output.document(&json!({ "checks": checks }));
    }
    for Check { what, verdict, says } in checks {
        let word = format!("{:5}", word(*verdict));
        let word = match verdict {
            Verdict::Fine => output.paint.good(&word),
            Verdict::Note => output.paint.warn(&word),
            Verdict::Wrong => output.paint.bad(&word),
        };
        output.text(&format!("{word}  {}: {}", clean(what), clean(says)))?;
    }
    Ok(())
}
