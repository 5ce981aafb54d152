//! What comes of sessions.

use prose_api::v1::commit_request::Outcome;
use prose_render::HarnessSpec;

use crate::world::{LONG_MS, PUBLISHES, World, infrastructure, truth};

#[tokio::test]
async fn a_ready_node_is_rendered() {
    let world = World::with_lease(LONG_MS).await;
    let worker = world.work(PUBLISHES);
    world.until("a commit", |seen| !seen.commits.is_empty()).await;
    let seen = world.end(worker).await;
    let [claim] = &seen.claims[..] else { panic!("{seen:?}") };
    assert_eq!((&*claim.reactor, &*claim.node, &*claim.worker), ("tests", "brief", "worker-1"));
    let [commit] = &seen.commits[..] else { panic!("{seen:?}") };
    assert_eq!((&*commit.reactor, &*commit.node, commit.fence), ("tests", "brief", 7));
    assert_eq!(truth(commit), "{\"n\": 1}\n");
    assert_eq!(commit.usage.as_ref().unwrap().fresh_tokens, 5);
}

#[tokio::test]
async fn a_session_that_fails_is_committed_as_such() {
    let world = World::with_lease(LONG_MS).await;
    let worker = world.work(r#"echo '{"status": "failed", "reason": "no access"}' > result.json"#);
    let seen = world.until("a commit", |seen| !seen.commits.is_empty()).await;
    let outcome = seen.commits[0].outcome.as_ref();
    assert!(matches!(outcome, Some(Outcome::Failed(failed)) if failed.reason == "no access"));
    world.end(worker).await;
}

#[tokio::test]
async fn a_session_that_breaks_is_an_infrastructure_failure() {
    let world = World::with_lease(LONG_MS).await;
    let worker = world.work("echo half a truth; exit 3");
    let seen = world.until("a commit", |seen| !seen.commits.is_empty()).await;
    assert_eq!(
        infrastructure(&seen.commits[0]),
        "the session ended with exit code 3; the session's last output:\nhalf a truth"
    );
    world.end(worker).await;
}

#[tokio::test]
async fn a_jq_program_renders() {
    let executable = std::env::current_exe().unwrap();
    let executable = executable.ancestors().nth(2).unwrap().join("prose-jq-session");
    if !executable.exists() {
        eprintln!("skipped: {} is not built", executable.display());
        return;
    }
    let world = World::with_lease(LONG_MS).await;
    world.project.write("brief.jq", "{at: .as_of}");
    let harness = HarnessSpec::Jq { program: world.project.path("brief.jq") };
    let worker = world.start(1, harness, &executable);
    let seen = world.until("a commit", |seen| !seen.commits.is_empty()).await;
    assert_eq!(truth(&seen.commits[0]), r#"{"at":"2026-01-02T03:04:05.678Z"}"#);
    assert_eq!(seen.commits[0].usage.as_ref().unwrap().harness, "jq");
    world.end(worker).await;
}
