//! Feeds: what is taken in, and what ends them.

use crate::support::{demo, prose_in, prose_with};

const GOOD: &str = r#"{"gateway": "pantry", "event": {"stock": {"tea": 1}, "counted_by": "Ada"}}"#;

#[test]
fn a_bad_line_is_named_and_what_stands_before_it_taken_in() {
    let folder = demo();
    let long = format!(r#"{{"gateway": "pantry", "event": "{}"}}"#, "x".repeat(10 << 20));
    let deep = format!(
        r#"{{"gateway": "pantry", "event": {}{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    for (name, line, code, part) in [
        ("a", "no json", "feed_line", "expected"),
        ("b", r#"{"event": 1}"#, "feed_line", "missing field `gateway`"),
        ("c", r#"{"gateway": "pantri", "event": 1}"#, "gateway_unknown", "gateways here: pantry"),
        ("d", r#"{"gateway": "shopping-list", "event": 1}"#, "gateway_invalid", "takes no events"),
        ("e", &long, "feed_line_too_long", "longer than 1048576 bytes"),
        ("f", r#"{"gateway": "pantry", "event": {"n": 1e400}}"#, "json_number_range", "$.n"),
        (
            "g",
            r#"{"gateway": "pantry", "event": {"n": 9007199254740993}}"#,
            "json_number_range",
            "$.n",
        ),
        ("h", r#"{"gateway": "pantry", "event": {"n": 1, "n": 2}}"#, "json_duplicate_key", "$"),
        ("i", &deep, "json_depth", "deeper than"),
        ("j", "{\"gateway\": \"pantry\", \"event\": \"\0\"}", "feed_line", "control character"),
    ] {
        let feed = format!("demo/{name}.jsonl");
        folder.write(&feed, format!("{GOOD}\n\n{line}\n{GOOD}\n"));
        let ended = prose_in(folder.root(), ["up", "demo", "--feed", &feed, "--exit-when-quiet"])
            .refused(code, &format!("{feed}:3: "));
        assert!(ended.err.contains(part), "{name}: {}", ended.err);
        assert!(ended.out.contains("1 event taken in"), "{name}: {}", ended.out);
    }
    folder.write("demo/k.jsonl", [GOOD.as_bytes(), b"\n{\"gateway\": \"\xff\xfe\"}\n"].concat());
    prose_in(folder.root(), ["up", "demo", "--feed", "demo/k.jsonl", "--exit-when-quiet"])
        .refused("json_encoding", "demo/k.jsonl:2: ");
}

#[test]
fn a_feed_that_is_not_there_begins_nothing() {
    let folder = demo();
    for feed in ["nowhere.jsonl", "demo"] {
        prose_in(folder.root(), ["up", "demo", "--feed", feed, "--exit-when-quiet"])
            .refused("feed_unreadable", feed);
    }
    assert!(!folder.path("demo/.prose").exists());
}

#[test]
fn equal_values_in_other_words_move_nothing() {
    let folder = demo();
    let line = |n: &str| {
        format!(r#"{{"gateway":"pantry","event":{{"stock":{{"tea":{n}}},"counted_by":"x"}}}}"#)
    };
    let feed = [line("1"), line("1.0"), line("1e0"), line("0"), line("-0")].join("\n");
    let args = ["up", "demo", "--feed", "-", "--exit-when-quiet", "--json"];
    let summary = prose_with(folder.root(), args, feed.as_bytes()).ok().json();
    let total = &summary["nodes"]["pantry"]["total"];
    assert_eq!((&total["rendered"], &total["skipped"]), (&2.into(), &3.into()));
}

#[test]
fn standard_input_is_keyed_by_line_and_content() {
    let folder = demo();
    let up = |input: &str| {
        let args = ["up", "demo", "--feed", "-", "--exit-when-quiet", "--json"];
        prose_with(folder.root(), args, input.as_bytes()).ok().json()["events"].clone()
    };
    let other = GOOD.replace("Ada", "Ben");
    assert_eq!(up(GOOD), serde_json::json!({"new": 1, "repeated": 0}));
    assert_eq!(up(GOOD), serde_json::json!({"new": 0, "repeated": 1}));
    assert_eq!(up(&other), serde_json::json!({"new": 1, "repeated": 0}));
    assert_eq!(up(""), serde_json::json!({"new": 0, "repeated": 0}));
}

#[test]
fn a_file_is_keyed_by_its_place_in_the_project() {
    let folder = demo();
    let up = |from: &str, dir: &str, feed: &str| {
        let args = ["up", dir, "--feed", feed, "--exit-when-quiet", "--json"];
        prose_in(&folder.path(from), args).ok().json()["events"]["new"].clone()
    };
    assert_eq!(up("", "demo", "demo/feed.jsonl"), 5);
    assert_eq!(up("demo", ".", "feed.jsonl"), 0);
    // The same name elsewhere is another feed.
    folder.write("feed.jsonl", GOOD);
    assert_eq!(up("", "demo", "feed.jsonl"), 1);
}

#[test]
fn large_feeds_go_in_by_batches() {
    let folder = demo();
    let line = |n: usize| {
        format!(
            "{{\"gateway\":\"pantry\",\"event\":{{\"stock\":{{\"tea\":{n}}},\"counted_by\":\"x\"}}}}\n"
        )
    };
    folder.write("big.jsonl", (0..1_234).map(line).collect::<String>());
    let args = ["up", "demo", "--feed", "big.jsonl", "--exit-when-quiet", "--json"];
    let summary = prose_in(folder.root(), args).ok().json();
    assert_eq!(summary["events"]["new"], 1_234);
    assert_eq!(summary["nodes"]["pantry"]["total"]["rendered"], 1_234);
    let status = prose_in(folder.root(), ["status", "demo", "--json"]).ok().json();
    // One wave a batch, and one for the mount; what coalesced is not rendered.
    assert_eq!(status["wave"], 1 + 13);
}
