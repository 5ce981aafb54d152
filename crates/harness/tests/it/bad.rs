//! Everything a session can do wrong ends as one infrastructure failure that people understand.

use prose_harness::{FailureCode, Limits, SessionFailure};

use crate::support::{limits, run, sh, short};

const RENDERED: &str = r#"printf '{"status": "rendered"}' > result.json"#;

/// Runs a script that must fail, as `code`.
async fn fails(script: &str, limits: &Limits, code: FailureCode) -> SessionFailure {
    let ran = run(&sh(script), limits).await;
    let failure = ran.result.expect_err(script);
    assert_eq!(failure.code, code, "{script}: {failure:?}");
    assert!(!failure.reason.is_empty());
    failure
}

#[tokio::test]
async fn ignoring_term_helps_nobody() {
    let script = "trap '' TERM; echo working; while :; do sleep 0.05; done";
    let failure = fails(script, &short(), FailureCode::Timeout).await;
    assert_eq!(failure.reason, "the session ran past its deadline of 400ms");
    assert_eq!(failure.tail, "working\n");
}

#[tokio::test]
async fn a_stopped_process_is_killed_all_the_same() {
    fails("kill -STOP $$", &short(), FailureCode::Timeout).await;
}

#[tokio::test]
async fn grandchildren_are_killed_and_told_of() {
    for left in [
        "sleep 60 &",
        "sleep 60 >/dev/null 2>&1 &",
        "setsid sleep 60 &",
        "setsid sh -c 'setsid sh -c \"trap \\\"\\\" TERM HUP; while :; do sleep 1; done\" & sleep 60' &",
        "(trap '' TERM; while :; do sleep 0.05; done) &",
    ] {
        let script = format!("{left}\n{RENDERED}");
        let failure = fails(&script, &limits(), FailureCode::ProcessesLeft).await;
        assert!(failure.reason.contains("left processes running"), "{failure}");
    }
}

#[tokio::test]
async fn grandchildren_of_a_late_session_are_killed() {
    fails("setsid sleep 60 & sleep 60", &short(), FailureCode::Timeout).await;
}

#[tokio::test]
async fn helpers_may_end_a_moment_later() {
    let ran = run(&sh(&format!("sleep 0.1 & {RENDERED}")), &limits()).await;
    ran.result.unwrap();
}

#[tokio::test]
async fn standard_input_is_empty() {
    fails("cat", &limits(), FailureCode::ResultMissing).await;
    let ran = run(&sh(&format!("read line || {RENDERED}")), &limits()).await;
    ran.result.unwrap();
}

#[tokio::test]
async fn too_much_output_stops_the_session() {
    let limits = Limits { output_bytes: 1 << 20, ..limits() };
    let endless = "echo begin; while :; do echo 0123456789abcdef; done";
    let failure = fails(endless, &limits, FailureCode::OutputLimit).await;
    assert_eq!(failure.reason, "the session printed more than 1048576 bytes");
    assert!(failure.tail.len() <= 4096 && failure.tail.contains("9abcdef\n012"));
    let two_hundred_mb = format!("head -c 200000000 /dev/zero; {RENDERED}");
    fails(&two_hundred_mb, &limits, FailureCode::OutputLimit).await;
    let stubborn = "trap '' TERM PIPE; while :; do echo x; done";
    fails(stubborn, &limits, FailureCode::OutputLimit).await;
}

#[tokio::test]
async fn links_and_devices_are_no_truth() {
    for (make, shown) in [
        ("ln -s /etc/passwd published/p.json", "published/p.json is a symbolic link"),
        ("mkdir published/d; ln -s ../../.. published/d/up", "published/d/up is a symbolic link"),
        ("ln -s nowhere published/dangling", "symbolic link"),
        ("mkfifo published/pipe", "published/pipe is a named pipe"),
        ("rm -r published; ln -s /etc published", "published is a symbolic link"),
        ("rm -r published; echo > published", "file in the place of a folder"),
        ("touch \"published/$(printf '\\377')\"", "not a name in UTF-8"),
    ] {
        let script = format!("{make}\n{RENDERED}");
        let failure = fails(&script, &limits(), FailureCode::PublishedInvalid).await;
        assert!(failure.reason.contains(shown), "{make}: {failure}");
    }
}

#[tokio::test]
async fn publishing_too_much_is_refused() {
    let limits = Limits { published_files: 20, published_bytes: 1000, ..limits() };
    for (make, shown) in [
        ("for i in $(seq 30); do echo > published/$i; done", "more than 20 files"),
        ("mkdir -p published/$(seq -s / 30)", "more than 20 files"),
        ("head -c 1001 /dev/zero > published/big", "more than 1000 bytes"),
        ("truncate -s 1T published/sparse", "more than 1000 bytes"),
    ] {
        let script = format!("{make}\n{RENDERED}");
        let failure = fails(&script, &limits, FailureCode::PublishedLimit).await;
        assert!(failure.reason.contains(shown), "{make}: {failure}");
    }
}

#[tokio::test]
async fn writing_elsewhere_is_refused() {
    for (make, shown) in [
        ("echo x > note.txt", "note.txt appeared"),
        ("mkdir deep; echo x > deep/note", "deep appeared"),
        ("chmod -R u+w inputs; echo x > inputs/market/extra", "inputs/market/extra appeared"),
        ("chmod -R u+w inputs; echo x > inputs/market/truth.json", "inputs/market/truth.json was"),
        ("chmod -R u+w prior; rm -r prior", "prior was changed"),
        ("chmod u+w prior prior/*; rm prior/truth.json", "prior/truth.json was"),
        ("chmod u+w contract.md; echo x >> contract.md", "contract.md was"),
        ("chmod u+w task.json; truncate -s 1T task.json", "task.json was"),
        ("rm -f contract.md; ln -s /etc/passwd contract.md", "contract.md was"),
        ("chmod u+w events; mkfifo events/0001.json", "events was changed"),
    ] {
        let script = format!("{make}\n{RENDERED}");
        let failure = fails(&script, &limits(), FailureCode::FolderChanged).await;
        assert!(failure.reason.starts_with(shown), "{make}: {failure}");
        assert!(failure.reason.ends_with("may write only published/ and workspace/"));
    }
}

#[tokio::test]
async fn results_are_never_guessed() {
    let missing = fails("echo all done", &limits(), FailureCode::ResultMissing).await;
    assert_eq!(
        missing.explain(),
        "the session ended without writing result.json; the session's last output:\nall done"
    );
    for write in [
        "printf '{\"status\": \"rend' > result.json",
        ": > result.json",
        "echo '{\"status\": \"perhaps\"}' > result.json",
        "ln -s /etc/passwd result.json",
        "mkfifo result.json",
        "mkdir result.json",
        "truncate -s 1T result.json",
    ] {
        fails(write, &limits(), FailureCode::ResultMalformed).await;
    }
}

#[tokio::test]
async fn exit_codes_and_signals_are_named() {
    let oops = format!("{RENDERED}; echo oops >&2; exit 3");
    let code = fails(&oops, &limits(), FailureCode::ExitCode).await;
    assert_eq!(code.reason, "the session ended with exit code 3");
    assert_eq!(code.tail, "oops\n");
    let signal = fails(&format!("{RENDERED}; kill -9 $$"), &limits(), FailureCode::Signal).await;
    assert_eq!(signal.reason, "the session was killed by signal 9 (KILL)");
    fails("kill -SEGV $$", &limits(), FailureCode::Signal).await;
}

#[tokio::test]
async fn programs_that_cannot_run_are_told_apart() {
    let program = |program: &str| prose_harness::Command { program: program.into(), ..sh("") };
    for (named, code, shown) in [
        ("no-such-program-x", FailureCode::ProgramNotFound, "no program named no-such-program-x"),
        ("./bin/agent", FailureCode::ProgramNotFound, "/nowhere/./bin/agent does not exist"),
        ("/etc/passwd", FailureCode::ProgramNotExecutable, "may not be executed"),
        ("/etc", FailureCode::ProgramNotExecutable, "may not be executed"),
    ] {
        let failure = run(&program(named), &limits()).await.result.unwrap_err();
        assert_eq!(failure.code, code, "{failure}");
        assert!(failure.reason.contains(shown), "{failure}");
    }
}

#[tokio::test]
async fn steering_characters_do_not_reach_the_tail() {
    let script = r"printf '\033[31mred\000\377\r\n'; exit 1";
    let failure = fails(script, &limits(), FailureCode::ExitCode).await;
    assert_eq!(failure.tail, "[31mred\u{fffd}\n");
}
