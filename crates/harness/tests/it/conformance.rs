//! What holds of every adapter.

use std::time::Duration;

use prose_harness::{Command, FailureCode, Harness, Jq, Status, TaskFolder};
use tokio_util::sync::CancellationToken;

use crate::support::{alive, environment, limits, run, sh, short, spec, text, until};

/// The same four sessions, as an adapter runs them.
struct Adapter {
    rendering: Box<dyn Harness>,
    failing: Box<dyn Harness>,
    endless: Box<dyn Harness>,
    missing: Box<dyn Harness>,
}

fn command() -> Adapter {
    let render = r#"echo '{"n":2}' > published/truth.json
        echo '{"round":"B"}' > published/funding/truth.json
        echo '{"status": "rendered", "attestations": {"c1": true}}' > result.json"#;
    let fail = r#"echo '{"status": "failed", "reason": "no data yet"}' > result.json"#;
    Adapter {
        rendering: Box::new(sh(render)),
        failing: Box::new(sh(fail)),
        endless: Box::new(sh("while :; do sleep 0.05; done")),
        missing: Box::new(Command { program: "/no/such/agent".into(), ..sh("") }),
    }
}

fn jq() -> Adapter {
    let with = |executable: &str, program: &str| {
        Box::new(Jq::new(executable.into(), Vec::new(), program.to_owned()).unwrap())
    };
    let here = |program| with(env!("CARGO_BIN_EXE_prose-jq-session"), program);
    Adapter {
        rendering: here(r#"{n: (.self.n + 1), funding: {round: "B"}}"#),
        failing: here(r#"error("no data yet")"#),
        endless: here("until(false; .)"),
        missing: with("/no/such/agent", "."),
    }
}

async fn conforms(adapter: Adapter) {
    let outcome = run(&*adapter.rendering, &limits()).await.result.unwrap();
    assert_eq!(outcome.status, Status::Rendered);
    assert_eq!(text(&outcome, "truth.json").trim_end(), r#"{"n":2}"#);
    assert_eq!(text(&outcome, "funding/truth.json").trim_end(), r#"{"round":"B"}"#);
    assert_eq!(outcome.published.len(), 2);
    assert!(outcome.attestations["c1"]);

    let outcome = run(&*adapter.failing, &limits()).await.result.unwrap();
    assert_eq!(outcome.status, Status::Failed);
    assert_eq!(outcome.reason.as_deref(), Some("no data yet"));
    assert!(outcome.published.is_empty());

    let failure = run(&*adapter.endless, &short()).await.result.unwrap_err();
    assert_eq!(failure.code, FailureCode::Timeout);

    let failure = run(&*adapter.missing, &limits()).await.result.unwrap_err();
    assert_eq!(failure.code, FailureCode::ProgramNotFound);

    stops_when_told(&*adapter.endless).await;
    dies_when_dropped(&*adapter.endless).await;
}

async fn stops_when_told(endless: &dyn Harness) {
    let parent = tempfile::tempdir().unwrap();
    let folder = TaskFolder::create(parent.path(), &spec()).unwrap();
    let (environment, limits, stop) = (environment(), limits(), CancellationToken::new());
    let session = endless.run(&folder, &environment, &limits, stop.clone());
    let stopping = async {
        until("the session to run", || !alive(folder.root()).is_empty()).await;
        stop.cancel();
    };
    let (result, ()) = tokio::join!(session, stopping);
    assert_eq!(result.unwrap_err().code, FailureCode::Cancelled);
    assert!(alive(folder.root()).is_empty());

    let other = TaskFolder::create(parent.path(), &spec()).unwrap();
    let result = endless.run(&other, &environment, &limits, stop).await;
    assert_eq!(result.unwrap_err().code, FailureCode::Cancelled);
}

async fn dies_when_dropped(endless: &dyn Harness) {
    let parent = tempfile::tempdir().unwrap();
    let folder = TaskFolder::create(parent.path(), &spec()).unwrap();
    let (environment, limits, stop) = (environment(), limits(), CancellationToken::new());
    let mut session = endless.run(&folder, &environment, &limits, stop);
    while alive(folder.root()).is_empty() {
        let moment = tokio::time::timeout(Duration::from_millis(5), &mut session);
        moment.await.expect_err("an endless session ended");
    }
    drop(session);
    until("the session to die", || alive(folder.root()).is_empty()).await;
}

#[tokio::test]
async fn command_conforms() {
    conforms(command()).await;
}

#[tokio::test]
async fn jq_conforms() {
    conforms(jq()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_they_do_on_many_threads() {
    tokio::join!(conforms(command()), conforms(jq()));
}
