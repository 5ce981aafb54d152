//! `up` as a service, and the others talking to it.

use std::{fs, os::unix::fs::PermissionsExt};

use rustix::process::Signal;

use crate::support::{Up, demo, prose_in, prose_with, ran, until};

const EVENT: &str = r#"{"stock": {"tea": 1}, "counted_by": "Ada"}"#;

#[test]
fn it_serves_on_a_socket_of_its_owner_until_it_is_told_to_stop() {
    let folder = demo();
    for signal in [Signal::INT, Signal::TERM] {
        let up = Up::start(&folder, &[]);
        let mode =
            |path: &str| fs::metadata(folder.path(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("demo/.prose"), mode("demo/.prose/prose.sock")), (0o700, 0o600));
        up.signal(signal);
        assert_eq!(up.end(), Some(0));
        assert!(!folder.path("demo/.prose/prose.sock").exists());
    }
    // One that was killed leaves its socket behind, and is followed all the same.
    let mut up = Up::start(&folder, &[]);
    up.0.kill().unwrap();
    assert_eq!(up.end(), None);
    assert!(folder.path("demo/.prose/prose.sock").exists());
    prose_in(folder.root(), ["status", "demo"]).ok();
    Up::start(&folder, &[]);
}

#[test]
fn events_are_triggered_followed_and_explained_while_it_runs() {
    let folder = demo();
    let _up = Up::start(&folder, &[]);
    let prose = |args: &[&str]| prose_in(&folder.path("demo"), args);
    let first = prose(&["trigger", "pantry", EVENT, "--key", "k", "--json"]).ok().json();
    assert_eq!((&first["status"], &first["repeated"]), (&"rendered".into(), &false.into()));
    let again = prose(&["trigger", "pantry", EVENT, "--key", "k", "--json"]).ok().json();
    assert_eq!((&again["receipt"], &again["repeated"]), (&first["receipt"], &true.into()));
    // Mount, event, render.
    let watched = prose(&["watch", "--after", "0", "--limit", "3", "--json"]).ok().out;
    let receipts: Vec<serde_json::Value> =
        watched.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(receipts[2]["receipt"]["node"], "shopping-list");
    let resumed = prose(&["watch", "--after", "2", "--limit", "1", "--json"]).ok().json();
    assert_eq!(resumed, receipts[2]);
    let explained = prose(&["explain", "shopping-list", "--json"]).ok().json();
    let moves = explained["moves"].as_array().unwrap();
    assert!(moves.iter().any(|moved| moved["producer"] == "pantry"), "{moves:?}");
    assert_eq!(explained["woken_by"][0]["address"], first["receipt"]);
    let failed = prose(&["trigger", "pantry", "{\"stock\": 1}", "--json"]).code(1).json();
    assert_eq!(failed["status"], "failed");
    assert!(failed["reason"].as_str().unwrap().contains("counted_by"), "{failed}");
    let refused = prose(&["trigger", "pantry", "{\"n\": 1e400}"]);
    assert!(refused.refused("json_number_range", "$.n").err.contains("pantry"));
    prose(&["trigger", "shopping-list", "1"]).refused("gateway_invalid", "takes no events");
    prose(&["receipts", "verify"]).ok();
}

#[test]
fn an_event_comes_from_a_file_or_standard_input_too() {
    let folder = ran();
    folder.write("event.json", EVENT);
    folder.write("huge.json", format!("\"{}\"", "x".repeat(2 << 20)));
    let trigger = |event: &str, input: &str| {
        let args = ["-C", "demo", "trigger", "pantry", event];
        prose_with(folder.root(), args, input.as_bytes())
    };
    assert!(trigger("@event.json", "").ok().out.contains("pantry rendered"));
    assert!(trigger("-", EVENT).ok().out.contains("pantry skipped"));
    trigger("@nowhere", "").refused("event_unreadable", "@nowhere");
    trigger("@huge.json", "").refused("event_too_large", "1048576");
    trigger("-", "").refused("json_syntax", "$");
    trigger("{\"a\": ", "").refused("json_syntax", "$.a");
}

#[test]
fn tcp_is_served_on_request() {
    let folder = ran();
    // Another process may take the port in between; then this one fails loudly.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let _up = Up::start(&folder, &["--listen", &format!("127.0.0.1:{port}")]);
    let endpoint = format!("http://127.0.0.1:{port}");
    let elsewhere = prose_testkit::Project::new();
    let status =
        prose_in(elsewhere.root(), ["status", "--endpoint", &endpoint, "--json"]).ok().json();
    assert_eq!(status["reactor"], "demo");
    let args = ["status", "--endpoint", &endpoint, "--reactor", "other"];
    prose_in(elsewhere.root(), args).refused("reactor_unknown", "`other`");
}

#[test]
fn a_running_render_is_cancelled() {
    let folder = demo();
    folder.write("demo/jq/shopping-list.jq", "def f: f; f");
    let _up = Up::start(&folder, &["--feed", "demo/feed.jsonl"]);
    let prose = |args: &[&str]| prose_in(&folder.path("demo"), args);
    until("the render runs", || {
        let status = prose(&["status", "--json"]).ok().json();
        status["nodes"][1]["condition"]["kind"] == "in_flight"
    });
    let status = prose(&["status"]).ok().out;
    assert!(status.contains("renders on up-"), "{status}");
    prose(&["cancel", "shopping-list"]).ok();
    let explained = prose(&["explain", "shopping-list", "--json"]).ok().json();
    assert_eq!(explained["last"]["receipt"]["failure"]["class"], "cancelled");
}

#[test]
fn a_project_may_lie_deeper_than_a_socket_path_is_long() {
    let folder = demo();
    let deep = format!("{0}/{0}/{0}", "d".repeat(60));
    fs::create_dir_all(folder.path(&deep)).unwrap();
    fs::rename(folder.path("demo"), folder.path(&format!("{deep}/demo"))).unwrap();
    let dir = format!("{deep}/demo");
    let args = ["up", &dir, "--feed", &format!("{dir}/feed.jsonl"), "--exit-when-quiet"];
    prose_in(folder.root(), args).ok();
}
