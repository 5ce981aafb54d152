//! Events: keys, batches, skips, and the gate of a gateway.

use prose_engine::{EVENT_BYTES_MAX, EVENTS_MAX, Error, EventStatus as S};
use prose_ledger::{FailureClass, Status};

use crate::support::{FEED, REACTOR, World, code, event, poll};

#[tokio::test]
async fn a_key_is_taken_once_within_and_across_batches() {
    let world = World::settled().await;
    let outcomes = world.ingest(vec![poll("a", 2, 10), poll("a", 3, 10), poll("b", 4, 10)]).await;
    assert_eq!(outcomes.iter().map(|o| o.repeated).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(outcomes[0].receipt, outcomes[1].receipt);
    let before = world.rows().await;
    let again = world.ingest(vec![poll("b", 9, 9), poll("a", 9, 9)]).await;
    assert_eq!(world.rows().await, before);
    assert!(again.iter().all(|outcome| outcome.repeated));
    assert_eq!(
        [&again[0].receipt, &again[1].receipt],
        [&outcomes[2].receipt, &outcomes[0].receipt]
    );
    let world = world.restarted();
    let again = world.ingest(vec![poll("b", 9, 9), poll("c", 5, 10)]).await;
    assert_eq!((again[0].repeated, again[1].repeated), (true, false));
    assert_eq!(again[0].receipt, outcomes[2].receipt);
    world.assert_sound().await;
}

#[tokio::test]
async fn a_key_belongs_to_its_gateway() {
    let other = FEED.replace("feed", "other");
    let world = World::new(&[FEED, &other]).await;
    let twin = event("other", "a", poll("a", 1, 1).body);
    let outcomes = world.ingest(vec![poll("a", 1, 1), twin]).await;
    assert!(outcomes.iter().all(|outcome| !outcome.repeated));
    world.assert_sound().await;
}

#[tokio::test]
async fn one_bad_event_refuses_the_whole_batch() {
    let world = World::settled().await;
    let before = world.rows().await;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let long = format!("\"{}\"", "x".repeat(EVENT_BYTES_MAX));
    let bad: [(&str, &[u8], &str); 13] = [
        ("k", b"{", "json_syntax"),
        ("k", br#"{"a":1,"a":2}"#, "json_duplicate_key"),
        ("k", br#"{"a":[9007199254740993]}"#, "json_number_range"),
        ("k", br#"{"a":1e400}"#, "json_number_range"),
        ("k", b"\"\xff\"", "json_encoding"),
        ("k", b"", "json_syntax"),
        ("k", b"1 2", "json_syntax"),
        ("k", b"\"\0\"", "json_syntax"),
        ("k", b"NaN", "json_syntax"),
        ("k", deep.as_bytes(), "json_depth"),
        ("k", long.as_bytes(), "event_too_large"),
        ("", b"{}", "event_key_missing"),
        ("k", b"[1,,2]", "json_syntax"),
    ];
    for (key, body, expected) in bad {
        let events = vec![poll("good", 2, 2), event("feed", key, body), poll("good too", 3, 3)];
        let error = world.engine.ingest(REACTOR, events).await.unwrap_err();
        let shown = String::from_utf8_lossy(&body[..body.len().min(20)]).into_owned();
        assert_eq!(error.code(), expected, "{shown}: {error}");
        assert!(matches!(error, Error::Event { index: 1, .. }), "{error}");
    }
    for (gateway, expected) in [("priced", "gateway_invalid"), ("nobody", "gateway_unknown")] {
        let events = vec![poll("good", 2, 2), event(gateway, "k", "{}")];
        assert_eq!(code(world.engine.ingest(REACTOR, events).await), expected);
    }
    let many = (0..=EVENTS_MAX).map(|i| poll(&i.to_string(), 1, 1)).collect();
    assert_eq!(code(world.engine.ingest(REACTOR, many).await), "events_too_many");
    assert_eq!(
        code(world.engine.ingest("nowhere", vec![poll("k", 1, 1)]).await),
        "reactor_unknown"
    );
    assert_eq!(world.rows().await, before);
    assert_eq!(world.statuses_of(vec![poll("good", 2, 2)]).await, [S::Rendered]);
    world.assert_sound().await;
}

#[tokio::test]
async fn the_error_of_a_bad_event_names_the_place() {
    let world = World::settled().await;
    let events = vec![event("feed", "k", r#"{"prices":{"value":[1,1e400]}}"#)];
    let text = world.engine.ingest(REACTOR, events).await.unwrap_err().to_string();
    for part in ["event 0", "`feed`", "`k`", "prices", "value"] {
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn what_did_not_move_is_skipped_and_wakes_nobody() {
    let world = World::settled().await;
    let same = poll("same", 1, 10);
    let other_spelling = event(
        "feed",
        "spelled",
        r#" {"stock":{"value":10.0}, "prices":{"value":1}, "fetched_at":"now"} "#,
    );
    let immaterial = event(
        "feed",
        "immaterial",
        r#"{"prices":{"value":1},"stock":{"value":10},"fetched_at":"later"}"#,
    );
    for unmoved in [same, other_spelling, immaterial] {
        assert_eq!(world.statuses_of(vec![unmoved]).await, [S::Skipped]);
        assert!(world.is_quiet().await);
    }
    assert_eq!(world.statuses("priced").await, [Status::Rendered]);
    world.assert_sound().await;
}

#[tokio::test]
async fn a_reader_of_one_facet_sleeps_while_another_moves() {
    let world = World::settled().await;
    world.ingest(vec![poll("stock moves", 1, 11)]).await;
    assert_eq!(world.ready().await, ["stocked"]);
    assert_eq!(world.chain("feed").await.last().unwrap().moved, ["@atomic", "stock"]);
    world.work().await;
    assert_eq!(world.statuses("priced").await, [Status::Rendered]);
    assert_eq!(world.truth("report").await.unwrap()["line"], "1 and 11");
    world.assert_sound().await;
}

#[tokio::test]
async fn an_event_that_the_gate_refuses_fails_and_the_truth_stands() {
    let world = World::settled().await;
    let before = world.truth("feed").await;
    let missing = event("feed", "missing", r#"{"prices":{"value":5}}"#);
    let statuses = world.statuses_of(vec![poll("negative", -1, 10), missing]).await;
    assert_eq!(statuses, [S::Failed, S::Failed]);
    assert_eq!(world.truth("feed").await, before);
    assert!(world.is_quiet().await, "a failure wakes nobody");
    let chain = world.chain("feed").await;
    let reasons: Vec<_> = chain.iter().filter_map(|r| r.failure.clone()).collect();
    assert!(reasons.iter().all(|failure| failure.class == FailureClass::Postcondition));
    assert!(reasons[0].reason.contains("no price is negative"), "{}", reasons[0].reason);
    assert!(reasons[1].reason.contains("stock"), "{}", reasons[1].reason);
    // The truth that stood before the failure is unmoved by the event that made it.
    assert_eq!(world.statuses_of(vec![poll("back", 1, 10)]).await, [S::Skipped]);
    assert_eq!(world.statuses_of(vec![poll("on", 2, 10)]).await, [S::Rendered]);
    world.assert_sound().await;
}

#[tokio::test]
async fn a_second_event_of_the_same_shape_and_length_is_another_event() {
    let world = World::settled().await;
    let statuses = world.statuses_of(vec![poll("a", 2, 10), poll("b", 3, 10)]).await;
    assert_eq!(statuses, [S::Rendered, S::Rendered]);
    assert_eq!(world.statuses_of(vec![poll("c", 4, 10)]).await, [S::Rendered]);
    let chain = world.chain("feed").await;
    let events: Vec<_> = chain.iter().map(|r| &r.input_fingerprints[0].fingerprint).collect();
    assert!(events.windows(2).all(|pair| pair[0] != pair[1]));
    world.assert_sound().await;
}

#[tokio::test]
async fn a_batch_is_one_wake_and_there_and_back_is_none() {
    let world = World::settled().await;
    let statuses = world.statuses_of(vec![poll("there", 2, 10), poll("back", 1, 10)]).await;
    assert_eq!(statuses, [S::Rendered, S::Rendered]);
    assert!(world.is_quiet().await);
    world.ingest((0..50).map(|i| poll(&format!("k{i}"), i, i)).collect()).await;
    world.work().await;
    assert_eq!(world.statuses("report").await, [Status::Rendered, Status::Rendered]);
    assert_eq!(world.truth("report").await.unwrap()["line"], "49 and 49");
    world.assert_sound().await;
}

/// A condition over `prior` sees the truth that stands, never an event that was skipped.
#[tokio::test]
async fn a_batch_decides_as_its_events_would_one_by_one() {
    let rising = "---\nname: feed\nkind: gateway\n---\n\n### Goal\n\nA rising count.\n\n\
        ### Maintains\n\n- `count`: the count\n- `mark`: a mark\n\n`mark` is immaterial everywhere.\n\n\
        Postcondition: a new mark is not below that which stands: \
        `prior == null || self.mark >= prior.mark`\n";
    let marks = [(1, 1), (1, 5), (2, 3), (2, 9), (3, 3)];
    let events = || {
        let body = |(count, mark)| format!(r#"{{"count":{count},"mark":{mark}}}"#);
        marks.iter().enumerate().map(move |(i, m)| event("feed", &i.to_string(), body(*m)))
    };
    let single = World::new(&[rising]).await;
    let mut one_by_one = Vec::new();
    for event in events() {
        one_by_one.extend(single.statuses_of(vec![event]).await);
    }
    let batch = World::new(&[rising]).await;
    assert_eq!(batch.statuses_of(events().collect()).await, one_by_one);
    assert_eq!(one_by_one, [S::Rendered, S::Skipped, S::Rendered, S::Skipped, S::Rendered]);
    batch.assert_sound().await;
}

#[tokio::test]
async fn odd_texts_are_values_like_any_other() {
    let any = "---\nname: feed\nkind: gateway\n---\n\n### Goal\n\nAnything.\n\n### Maintains\n\n- `it`: it\n";
    let world = World::new(&[any]).await;
    for (key, body) in [
        ("nul\0key", r#""nul \u0000 in it""#),
        ("-0", "-0"),
        ("1.0", "1.0"),
        ("empty", "{}"),
        ("null", "null"),
        ("unicode", "\"\u{10FFFF}\u{202e}\""),
    ] {
        assert_eq!(world.statuses_of(vec![event("feed", key, body)]).await, [S::Rendered], "{key}");
    }
    assert_eq!(world.statuses_of(vec![event("feed", "1", "1")]).await, [S::Rendered]);
    assert_eq!(world.statuses_of(vec![event("feed", "1.0 again", "1.00")]).await, [S::Skipped]);
    assert!(world.ingest(vec![event("feed", "nul\0key", "2")]).await[0].repeated);
    world.assert_sound().await;
}
