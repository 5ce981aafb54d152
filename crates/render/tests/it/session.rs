use prose_api::v1::commit_request::Outcome;
use prose_render::Renderer;
use tokio_util::sync::CancellationToken;

use crate::{files, infrastructure, lease, options, render, scripted};

#[tokio::test]
async fn a_good_session_becomes_a_truth_with_its_cost() {
    let script = r#"cat inputs/views/left/truth.json > published/truth.json
        echo '{"status": "rendered", "attestations": {"c2": true}, "diff": "new",
               "usage": {"fresh_tokens": 7, "reused_tokens": 2}}' > result.json"#;
    let commit = render(lease(), &scripted(script)).await;
    assert_eq!(
        (commit.reactor.as_str(), commit.node.as_str(), commit.fence),
        ("tests", "brief", 7)
    );
    let Some(Outcome::Rendered(rendered)) = commit.outcome else { panic!("{commit:?}") };
    assert_eq!(rendered.files, Some(files(&[("truth.json", r#"{"v":1}"#)])));
    assert!(rendered.attestations["c2"]);
    assert_eq!(rendered.diff, "new");
    let usage = commit.usage.unwrap();
    assert_eq!((usage.fresh_tokens, usage.reused_tokens), (7, 2));
    assert_eq!((usage.harness.as_str(), usage.model.as_str()), ("command", "configured"));
}

#[tokio::test]
async fn a_failed_session_keeps_its_reason() {
    let script =
        r#"echo '{"status": "failed", "reason": "login", "needs": {"a": "key"}}' > result.json"#;
    let commit = render(lease(), &scripted(script)).await;
    let Some(Outcome::Failed(failed)) = commit.outcome else { panic!("{commit:?}") };
    assert_eq!((failed.reason.as_str(), failed.needs.as_str()), ("login", r#"{"a":"key"}"#));
}

#[tokio::test]
async fn no_session_to_speak_of_says_why() {
    let commit = render(lease(), &scripted("echo $API_KEY; exit 4")).await;
    assert_eq!(commit.usage.as_ref().unwrap().harness, "command");
    assert_eq!(
        infrastructure(commit),
        "the session ended with exit code 4; the session's last output:\n[API_KEY]"
    );

    let mut broken = lease();
    broken.contract = "{".into();
    let reason = infrastructure(render(broken, &scripted("exit 0")).await);
    assert!(reason.starts_with("the contract in the lease cannot be read: EOF"), "{reason}");
}

#[tokio::test]
async fn a_variable_that_the_host_lacks_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let mut options = options(&scratch);
    options.environment.remove("API_KEY");
    let renderer = Renderer::new(options, &scripted("exit 0"));
    let commit = renderer.render(lease(), CancellationToken::new()).await;
    assert_eq!(infrastructure(commit), "the worker's environment has no value for API_KEY");
}

#[tokio::test]
async fn a_scratch_folder_that_cannot_be_is_told() {
    let scratch = tempfile::tempdir().unwrap();
    let mut options = options(&scratch);
    options.scratch.push("file");
    std::fs::write(&options.scratch, "").unwrap();
    let renderer = Renderer::new(options, &scripted("exit 0"));
    let reason = infrastructure(renderer.render(lease(), CancellationToken::new()).await);
    assert!(reason.starts_with("cannot write the task folder "), "{reason}");
}

#[tokio::test]
async fn a_stopped_session_ends_and_says_so() {
    let scratch = tempfile::tempdir().unwrap();
    let renderer = Renderer::new(options(&scratch), &scripted("sleep 600"));
    let stop = CancellationToken::new();
    stop.cancel();
    let reason = infrastructure(renderer.render(lease(), stop).await);
    assert!(reason.starts_with("the session was stopped"), "{reason}");
}

#[tokio::test]
async fn a_start_clears_what_a_killed_worker_left() {
    let scratch = tempfile::tempdir().unwrap();
    let left = scratch.path().join("019af000-0000-7000-8000-000000000000");
    std::fs::create_dir(&left).unwrap();
    let renderer = Renderer::new(options(&scratch), &scripted(""));
    assert_eq!(renderer.sweep().await.unwrap(), 1);
    assert!(!left.exists());
}
