//! The task folder: what is in it, and that it goes away.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

use prose_harness::{Input, SESSION_VAR, TASK_VAR, TaskFolder, TaskSpec};
use serde_json::{Value, json};

use crate::support::{alive, files, limits, run, sh, source, spec};

fn mode(path: std::path::PathBuf) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn everything_a_session_needs_is_there_and_owner_only() {
    let mut spec = spec();
    spec.functions.insert("summarize".into(), "# Summarize\n".into());
    spec.events = vec![br#"{"a": 1}"#.to_vec(), b"[2]".to_vec()];
    spec.inputs.push(Input {
        need: "views".into(),
        text: "all views".into(),
        fan_in: true,
        sources: vec![source("left", Some(&[("truth.json", "{}")])), source("right", None)],
    });
    let parent = tempfile::tempdir().unwrap();
    let folder = TaskFolder::create(&parent.path().join("made/too"), &spec).unwrap();
    let root = folder.root();
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    assert_eq!(read("contract.md"), "# A contract\n");
    assert_eq!(read("functions/summarize.md"), "# Summarize\n");
    assert_eq!(read("inputs/market/prices/truth.json"), r#"{"a": 1}"#);
    assert_eq!(read("inputs/views/left/truth.json"), "{}");
    assert_eq!(read("events/0002.json"), "[2]");
    assert_eq!(read("prior/funding/truth.json"), r#"{"round": "A"}"#);
    assert_eq!(read("published/funding/truth.json"), r#"{"round": "A"}"#);
    let task: Value = serde_json::from_str(&read("task.json")).unwrap();
    assert_eq!(task["events"], json!(["events/0001.json", "events/0002.json"]));
    assert_eq!(task["inputs"][1]["producers"][1]["published"], json!(false));
    assert_eq!(task["attest"], json!([{"id": "c1", "text": "it is so"}]));
    assert_eq!(mode(root.into()), 0o700);
    assert_eq!(mode(root.join("workspace")), 0o700);
    assert_eq!(mode(root.join("inputs/market/prices")), 0o500);
    assert_eq!(mode(root.join("prior/truth.json")), 0o400);
    assert_eq!(mode(root.join("published/truth.json")), 0o600);
    let root = root.to_owned();
    folder.close().unwrap();
    assert!(!root.exists());
}

#[test]
fn paths_that_lead_out_make_no_folder() {
    let parent = tempfile::tempdir().unwrap();
    let bad = |change: fn(&mut TaskSpec)| {
        let mut spec = spec();
        change(&mut spec);
        TaskFolder::create(parent.path(), &spec).unwrap_err().code()
    };
    assert_eq!(bad(|s| s.inputs[0].need = "..".into()), "task_path");
    assert_eq!(bad(|s| s.inputs[0].sources[0].producer = "a/b".into()), "task_path");
    assert_eq!(bad(|s| drop(s.functions.insert("a/b".into(), String::new()))), "task_path");
    assert_eq!(bad(|s| s.prior = files(&[("a", ""), ("a/b", "")])), "task_folder_io");
    assert_eq!(
        bad(|s| s.inputs[0].sources.push(source("watch", Some(&[("truth.json", "{}")])))),
        "task_input_conflict"
    );
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_folder_goes_away_whatever_the_session_did_to_it() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("precious"), "x").unwrap();
    let away = outside.path().display();
    for script in [
        "mkdir -p workspace/a/b; echo > workspace/a/b/c; chmod -R 0 workspace published".to_owned(),
        format!("ln -s {away} workspace/out; rm -rf published; ln -s {away} published"),
        format!("rm -rf *; d=$PWD; cd /; rmdir $d; ln -s {away} $d"),
    ] {
        let ran = run(&sh(&script), &limits()).await;
        ran.result.unwrap_err();
        let root = ran.folder.root().to_owned();
        drop(ran.folder);
        assert!(fs::symlink_metadata(&root).is_err(), "{script}");
        assert_eq!(fs::read_to_string(outside.path().join("precious")).unwrap(), "x");
        assert_eq!(fs::read_dir(ran.parent.path()).unwrap().count(), 0);
    }
}

#[test]
fn what_a_killed_worker_left_is_swept() {
    let parent = tempfile::tempdir().unwrap();
    let folder = TaskFolder::create(parent.path(), &spec()).unwrap();
    fs::write(parent.path().join("unrelated"), "x").unwrap();
    let mut left = std::process::Command::new("sh")
        .args(["-c", "trap '' TERM; while :; do sleep 0.05; done"])
        .env(SESSION_VAR, folder.session().to_string())
        .env(TASK_VAR, folder.root())
        .spawn()
        .unwrap();
    let root = folder.root().to_owned();
    // A killed worker drops nothing.
    std::mem::forget(folder);
    assert_eq!(TaskFolder::sweep(parent.path()).unwrap(), 1);
    assert_eq!(left.wait().unwrap().signal(), Some(9));
    assert!(alive(&root).is_empty() && !root.exists());
    assert!(parent.path().join("unrelated").exists());
    assert_eq!(TaskFolder::sweep(&parent.path().join("none")).unwrap(), 0);
}
