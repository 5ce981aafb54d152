//! What a jq program sees, and what becomes of what it yields.

use prose_harness::{FailureCode, Input, Jq, Outcome, SessionFailure, Status, TaskSpec, jq};
use prose_truth::TreePath;
use serde_json::{Value, json};

use crate::support::{environment, files, limits, run_with, source, spec, text};

async fn render(program: &str, spec: &TaskSpec) -> Result<Outcome, SessionFailure> {
    let executable = env!("CARGO_BIN_EXE_prose-jq-session").into();
    let harness = Jq::new(executable, Vec::new(), program.to_owned()).unwrap();
    run_with(&harness, spec, &environment(), &limits()).await.result
}

async fn truth(program: &str, spec: &TaskSpec) -> Value {
    let outcome = render(program, spec).await.unwrap();
    assert_eq!(outcome.status, Status::Rendered, "{:?}", outcome.reason);
    serde_json::from_str(&text(&outcome, "truth.json")).unwrap()
}

async fn refusal(program: &str) -> String {
    let outcome = render(program, &spec()).await.unwrap();
    assert_eq!(outcome.status, Status::Failed);
    outcome.reason.unwrap()
}

#[tokio::test]
async fn a_program_sees_the_whole_task() {
    let mut spec = spec();
    spec.events = vec![br#"{"id": 1}"#.to_vec(), br#"{"id": 2}"#.to_vec()];
    spec.inputs.push(Input {
        need: "views".into(),
        text: String::new(),
        fan_in: true,
        sources: vec![
            source("left", Some(&[("truth.json", r#"{"v": 1}"#)])),
            source("right", None),
        ],
    });
    spec.inputs.push(Input {
        need: "none".into(),
        sources: vec![source("p", None)],
        ..Input::default()
    });
    assert_eq!(
        truth("{seen: .}", &spec).await["seen"],
        json!({
            "self": {"n": 1, "funding": {"round": "A"}},
            "inputs": {
                "market": {"size": 3, "prices": {"a": 1}},
                "views": {"left": {"v": 1}, "right": null},
                "none": null
            },
            "event": {"id": 2},
            "events": [{"id": 1}, {"id": 2}],
            "wake": {"source": "input", "refs": ["blake3:1"], "cause": "input"},
            "as_of": "2026-01-02T03:04:05.678Z",
            "answers": {}
        })
    );
}

#[tokio::test]
async fn the_first_render_has_no_self() {
    let spec = TaskSpec { prior: files(&[]), ..spec() };
    assert_eq!(
        truth("{n: ((.self.n // 0) + 1), e: .event}", &spec).await,
        json!({"n": 1, "e": null})
    );
}

#[tokio::test]
async fn the_result_is_the_whole_truth() {
    let mut spec = spec();
    spec.prior.insert(TreePath::new("old.md").unwrap(), *b"projection");
    let outcome = render("{funding: {}}", &spec).await.unwrap();
    assert_eq!(outcome.published, files(&[("funding/truth.json", "{}"), ("truth.json", "{}")]));
    let outcome = render("{a: 1}", &spec).await.unwrap();
    assert_eq!(outcome.published, files(&[("truth.json", "{\"a\":1}")]));
}

#[tokio::test]
async fn numbers_pass_through_exactly_or_not_at_all() {
    let mut spec = spec();
    let numbers = "[1,0.1,1e-7,9007199254740991,0.30000000000000004]";
    spec.prior = files(&[("truth.json", &format!("{{\"n\":{numbers}}}"))]);
    let outcome = render(".self", &spec).await.unwrap();
    assert_eq!(text(&outcome, "truth.json"), format!("{{\"n\":{numbers}}}"));
    assert!(refusal("{n: 9007199254740992}").await.contains("cannot be held exactly"));
    assert!(refusal("{n: infinite}").await.contains("what a truth cannot hold"));
}

#[tokio::test]
async fn what_a_program_says_against_its_data_is_a_semantic_failure() {
    assert_eq!(refusal(r#"error("stale")"#).await, "stale");
    assert_eq!(refusal("empty").await, "the jq program yielded no value");
    assert_eq!(refusal("{}, {}").await, "the jq program yielded more than one value");
    assert_eq!(refusal("3").await, "the jq program yielded a number, not an object");
    assert!(refusal(".as_of.x").await.contains("cannot index"));
}

#[test]
fn what_is_not_jq_is_found_before_anything_runs() {
    let error = jq::check("{a: }").unwrap_err();
    assert_eq!((error.line, error.column), (1, 5), "{error}");
    Jq::new("x".into(), Vec::new(), "{".to_owned()).unwrap_err();
}

#[tokio::test]
async fn a_greedy_program_ends_itself_only() {
    for program in [r#"def grow: . + . | grow; "0123456789" | grow"#, "def deep: [deep] | .; deep"]
    {
        let failure = render(program, &spec()).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::Signal, "{program}: {failure:?}");
    }
}

/// A worker that is killed cannot stop its sessions; a program without an end must not spin on.
#[tokio::test]
async fn a_program_ends_with_the_worker_that_started_it() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("endless.jq"), "def f: f; f").unwrap();
    let task = serde_json::to_vec(&spec().task()).unwrap();
    std::fs::write(root.path().join("task.json"), task).unwrap();
    for folder in ["inputs/market/prices", "prior"] {
        std::fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    // The shell stands for the worker: it ends when its standard input does.
    let mut shell = std::process::Command::new("sh")
        .args(["-c", r#""$0" endless.jq 2>/dev/null & echo $!; read -r _"#])
        .arg(env!("CARGO_BIN_EXE_prose-jq-session"))
        .current_dir(root.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut pid = String::new();
    let mut out = std::io::BufReader::new(shell.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut pid).unwrap();
    let process = std::path::Path::new("/proc").join(pid.trim());
    let limit = std::time::Duration::from_secs(20);
    prose_testkit::wait_for("the program to run in a thread", limit, async || {
        let threads = std::fs::read_dir(process.join("task")).map(Iterator::count);
        match threads {
            Ok(2) => Ok(()),
            other => Err(other.map_err(|error| error.to_string())),
        }
    })
    .await;
    drop(shell.stdin.take());
    shell.wait().unwrap();
    prose_testkit::wait_for("the session to end", limit, async || {
        // Whoever adopts it may not have reaped it yet.
        let state = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
        if state.is_empty() || state.contains(") Z ") { Ok(()) } else { Err(state) }
    })
    .await;
}
