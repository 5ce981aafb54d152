//! What reaches a session from its surroundings, and what gets out.

use prose_harness::{Environment, FailureCode, Harness, TaskFolder};

use crate::support::{limits, run_with, sh, spec, text};

fn host() -> Environment {
    let path = std::env::var("PATH").unwrap();
    Environment::select(
        [
            ("PATH", path.as_str()),
            ("HOME", "/home/x"),
            ("LANG", "C.UTF-8"),
            ("TZ", "UTC"),
            ("TMPDIR", "/var/host-tmp"),
            ("API_KEY", "s3cret-value"),
            ("DATABASE_URL", "postgres://unlisted"),
            ("PROSE_TASK", "/elsewhere"),
        ],
        &["API_KEY".to_owned(), "ABSENT".to_owned()],
    )
}

#[tokio::test]
async fn only_listed_names_reach_the_session() {
    let script = r#"env | cut -d= -f1 | grep -vx -e PWD -e SHLVL -e _ -e OLDPWD | sort > published/names
        test "$TMPDIR" = "$PROSE_TASK/workspace" && test "$PWD" = "$PROSE_TASK" || exit 1
        test "$API_KEY" = s3cret-value || exit 2
        echo '{"status": "rendered"}' > result.json"#;
    let ran = run_with(&sh(script), &spec(), &host(), &limits()).await;
    let outcome = ran.result.unwrap();
    assert_eq!(
        text(&outcome, "names").lines().collect::<Vec<_>>(),
        ["API_KEY", "HOME", "LANG", "PATH", "PROSE_SESSION", "PROSE_TASK", "TMPDIR", "TZ"]
    );
}

#[tokio::test]
async fn values_do_not_get_out_in_words_about_the_session() {
    let script = r#"echo "calling with $API_KEY"; exit 1"#;
    let failure = run_with(&sh(script), &spec(), &host(), &limits()).await.result.unwrap_err();
    assert_eq!(failure.code, FailureCode::ExitCode);
    assert_eq!(failure.tail, "calling with [API_KEY]\n");
    let script = r#"printf '{"status": "failed", "reason": "key %s refused", "needs": {"x": ["not %s"]},
        "diff": "%s"}' $API_KEY $API_KEY $API_KEY > result.json"#;
    let outcome = run_with(&sh(script), &spec(), &host(), &limits()).await.result.unwrap();
    assert!(!format!("{outcome:?}").contains("s3cret"), "{outcome:?}");
    assert_eq!(outcome.reason.as_deref(), Some("key [API_KEY] refused"));
}

#[tokio::test]
async fn concurrent_sessions_do_not_touch_each_other() {
    let parent = tempfile::tempdir().unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..12 {
        let folder = TaskFolder::create(parent.path(), &spec()).unwrap();
        tasks.spawn(async move {
            // Every third leaves something to be killed while the others work.
            let leave = if number % 3 == 0 { "setsid sleep 60 &" } else { "sleep 0.2" };
            let script = format!("{leave}\necho '{{\"status\": \"rendered\"}}' > result.json");
            let stop = tokio_util::sync::CancellationToken::new();
            let harness = sh(&script);
            (number, harness.run(&folder, &host(), &limits(), stop).await)
        });
    }
    while let Some(ran) = tasks.join_next().await {
        let (number, result) = ran.unwrap();
        let code = result.err().map(|failure| failure.code);
        let expected = (number % 3 == 0).then_some(FailureCode::ProcessesLeft);
        assert_eq!(code, expected, "session {number}");
    }
}
