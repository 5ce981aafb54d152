//! What the tests share: a task, a shell script as a session, and a look at who is still alive.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use prose_harness::{
    Attest, Command, Environment, Harness, Input, Limits, Outcome, SessionFailure, Source,
    TASK_VAR, TaskFolder, TaskSpec, Wake,
};
use prose_truth::{Files, TreePath};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What a loaded machine may add to any limit.
pub const SLACK: Duration = Duration::from_secs(4);

pub fn files(files: &[(&str, &str)]) -> Files {
    let file = |(path, text): &(&str, &str)| (TreePath::new(path).unwrap(), text.as_bytes().into());
    files.iter().map(file).collect()
}

pub fn source(producer: &str, tree: Option<&[(&str, &str)]>) -> Source {
    Source {
        producer: producer.to_owned(),
        facet: "@atomic".to_owned(),
        files: tree.map(files),
        ..Source::default()
    }
}

pub fn spec() -> TaskSpec {
    TaskSpec {
        contract: "# A contract\n".to_owned(),
        reactor: "tests".to_owned(),
        node: "brief".to_owned(),
        wake: Wake {
            source: "input".to_owned(),
            refs: vec!["blake3:1".to_owned()],
            cause: "input".to_owned(),
        },
        as_of: "2026-01-02T03:04:05.678Z".to_owned(),
        facets: vec!["funding".to_owned()],
        inputs: vec![Input {
            need: "market".to_owned(),
            text: "the market".to_owned(),
            fan_in: false,
            sources: vec![source(
                "watch",
                Some(&[("truth.json", r#"{"size": 3}"#), ("prices/truth.json", r#"{"a": 1}"#)]),
            )],
        }],
        prior: files(&[("truth.json", r#"{"n": 1}"#), ("funding/truth.json", r#"{"round": "A"}"#)]),
        attest: vec![Attest { id: "c1".to_owned(), text: "it is so".to_owned() }],
        ..TaskSpec::default()
    }
}

pub fn limits() -> Limits {
    Limits {
        deadline: Duration::from_secs(20),
        grace: Duration::from_millis(300),
        ..Limits::default()
    }
}

pub fn short() -> Limits {
    Limits { deadline: Duration::from_millis(400), ..limits() }
}

pub fn environment() -> Environment {
    Environment::select(std::env::vars_os(), &[])
}

/// A session that is a shell script.
pub fn sh(script: &str) -> Command {
    Command {
        program: PathBuf::from("sh"),
        args: ["-c", script].map(OsString::from).to_vec(),
        base: PathBuf::from("/nowhere"),
        model: None,
    }
}

pub struct Ran {
    pub result: Result<Outcome, SessionFailure>,
    pub folder: TaskFolder,
    pub parent: TempDir,
}

/// Runs `harness` on `spec`, and asserts what holds of every session: it ends in time, and no
/// process of it is alive.
pub async fn run_with(
    harness: &dyn Harness,
    spec: &TaskSpec,
    environment: &Environment,
    limits: &Limits,
) -> Ran {
    let parent = tempfile::tempdir().unwrap();
    let folder = TaskFolder::create(parent.path(), spec).unwrap();
    let started = Instant::now();
    let result = harness.run(&folder, environment, limits, CancellationToken::new()).await;
    let bound = limits.deadline + limits.grace + SLACK;
    assert!(started.elapsed() < bound, "took {:?}: {result:?}", started.elapsed());
    assert_eq!(alive(folder.root()), Vec::<String>::new(), "{result:?}");
    Ran { result, folder, parent }
}

pub async fn run(harness: &dyn Harness, limits: &Limits) -> Ran {
    run_with(harness, &spec(), &environment(), limits).await
}

/// Command lines of the processes that carry the mark of the session in `folder`.
pub fn alive(folder: &Path) -> Vec<String> {
    let mark = format!("{TASK_VAR}={}", folder.display());
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let folder = entry.ok()?.path();
            let environ = fs::read(folder.join("environ")).ok()?;
            let marked = environ.split(|byte| *byte == 0).any(|v| v == mark.as_bytes());
            // The dead have an empty environment, so they do not come this far.
            marked.then(|| fs::read_to_string(folder.join("cmdline")).unwrap_or_default())
        })
        .collect()
}

/// Waits for `condition`, at most as long as any test may take.
pub async fn until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(20), "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A published file as text.
pub fn text(outcome: &Outcome, path: &str) -> String {
    String::from_utf8(outcome.published.get(path).unwrap().to_vec()).unwrap()
}
