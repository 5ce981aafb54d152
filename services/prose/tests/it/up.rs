//! `up` as a batch: the main job.

use crate::support::{demo, feed, prose_in, ran};

#[test]
fn a_new_project_works_and_running_it_again_renders_nothing() {
    let folder = demo();
    let first = feed(&folder).ok();
    assert!(first.out.starts_with("demo: 5 events taken in\n"), "{}", first.out);
    assert_eq!(first.err, "");
    let args = ["up", "demo", "--feed", "demo/feed.jsonl", "--exit-when-quiet", "--json"];
    let again = prose_in(folder.root(), args).ok().json();
    assert_eq!(again["events"], serde_json::json!({"new": 0, "repeated": 5}));
    assert_eq!(again["all"]["total"]["rendered"], 0);
    assert_eq!(again["all"]["total"]["skipped"], 0);
    let shown = prose_in(folder.root(), ["-C", "demo", "show", "shopping-list", "--json"]);
    assert_eq!(shown.ok().json()["truth"], serde_json::json!({"buy": {"milk": 1}}));
    assert!(folder.path("demo/dist/manifest.active.json").exists());
}

#[test]
fn settling_after_each_event_renders_each_surprise() {
    let folder = demo();
    let args = [
        "up",
        "demo",
        "--feed",
        "demo/feed.jsonl",
        "--exit-when-quiet",
        "--settle-every",
        "1",
        "--json",
    ];
    let summary = prose_in(folder.root(), args).ok().json();
    let pantry = &summary["nodes"]["pantry"]["total"];
    assert_eq!((&pantry["rendered"], &pantry["skipped"]), (&4.into(), &1.into()));
    let list = &summary["nodes"]["shopping-list"];
    assert_eq!(list["total"]["rendered"], 4);
    assert_eq!(list["by_cause"]["input"]["rendered"], 4);
}

#[test]
fn a_last_receipt_that_failed_is_told_and_exits_with_1() {
    let folder = demo();
    folder.write("demo/jq/shopping-list.jq", "error(\"the shelf\\u001b[2J is wet\")");
    let failed = feed(&folder).code(1);
    let told = "shopping-list failed (render): the shelf\u{fffd}[2J is wet";
    assert!(failed.out.contains(told), "{}", failed.out);
    let explained = prose_in(folder.root(), ["-C", "demo", "explain", "shopping-list"]).ok().out;
    assert!(explained.contains("failed") && explained.contains("is wet"), "{explained}");
    assert!(explained.contains("pantry.@atomic"), "{explained}");
    // Also when nothing is new: it is still a failure.
    feed(&folder).code(1);
    // Mended and told to, it renders again.
    folder.write("demo/jq/shopping-list.jq", "{buy: {}}");
    prose_in(folder.root(), ["-C", "demo", "retry", "shopping-list"]).ok();
    let summary =
        prose_in(folder.root(), ["up", "demo", "--exit-when-quiet", "--json"]).ok().json();
    assert_eq!(summary["nodes"]["shopping-list"]["by_cause"]["retry"]["rendered"], 1);
}

#[test]
fn a_broken_postcondition_publishes_nothing() {
    let folder = demo();
    folder.write("demo/jq/shopping-list.jq", "{buy: {tea: -1}}");
    let failed = feed(&folder).code(1);
    assert!(failed.out.contains("shopping-list failed (postcondition)"), "{}", failed.out);
    let shown = prose_in(folder.root(), ["-C", "demo", "show", "shopping-list", "--json"]);
    assert_eq!(shown.ok().json()["truth"], serde_json::Value::Null);
}

#[test]
fn a_forced_render_happens_when_up_runs() {
    let folder = ran();
    let forced = prose_in(folder.root(), ["-C", "demo", "render", "shopping-list", "--force"]).ok();
    assert_eq!(forced.out, "shopping-list renders as soon as `prose up` runs\n");
    let summary =
        prose_in(folder.root(), ["up", "demo", "--exit-when-quiet", "--json"]).ok().json();
    assert_eq!(summary["nodes"]["shopping-list"]["total"]["rendered"], 1);
}

#[test]
fn a_node_without_a_harness_says_how_to_give_it_one() {
    let folder = demo();
    folder.write("demo/prose.toml", "[run]\nattempts = 1\n");
    let failed = feed(&folder).code(1);
    let told = "shopping-list failed (infrastructure)";
    assert!(
        failed.out.contains(told) && failed.out.contains("[nodes.shopping-list]"),
        "{}",
        failed.out
    );
    let doctor = prose_in(folder.root(), ["doctor", "demo"]).code(1);
    assert!(doctor.out.contains("add [nodes.shopping-list]"), "{}", doctor.out);
}

#[test]
fn a_command_harness_renders_too() {
    let folder = demo();
    let agent = "#!/bin/sh\nprintf '{\"buy\": {\"tea\": 2}}' > published/truth.json\n\
                 printf '{\"status\": \"rendered\", \"usage\": {\"fresh_tokens\": 12, \
                 \"reused_tokens\": 3, \"model\": \"m\"}}' > result.json\n";
    folder.write("demo/agent.sh", agent);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path("demo/agent.sh"), executable).unwrap();
    folder.write(
        "demo/prose.toml",
        "[harness.a]\nkind = 'command'\nprogram = './agent.sh'\n[defaults]\nharness = 'a'\n",
    );
    prose_in(folder.root(), ["doctor", "demo"]).ok();
    let summary = feed(&folder).ok().out;
    assert!(summary.contains("input 1 (12 tokens)"), "{summary}");
    let cost = prose_in(folder.root(), ["-C", "demo", "receipts", "cost", "--json"]).ok().json();
    assert_eq!(cost["nodes"]["shopping-list"]["total"]["fresh"], 12);
    assert_eq!(cost["all"]["by_cause"]["input"]["reused"], 3);
}
