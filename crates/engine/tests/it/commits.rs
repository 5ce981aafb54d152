//! Claim and commit: what a lease pins, and what a commit may change.

use std::collections::BTreeMap;

use prose_engine::{CommitAnswer, CommitRequest, SessionResult};
use prose_ledger::{FailureClass, Status};
use prose_reconciler::{Surprise, WakeSource};
use prose_truth::document;

use crate::support::{REACTOR, World, code, files, gave_up, honest, poll, rendered, tokens};

#[tokio::test]
async fn a_lease_pins_one_moment() {
    let world = World::settled().await;
    let outcome = world.ingest(vec![poll("second", 2, 20)]).await.remove(0);
    let lease = world.claim("priced").await;
    assert_eq!(lease.lease.attempt, 1);
    assert_eq!(
        (lease.lease.surprise, lease.lease.wake_source),
        (Surprise::Input, WakeSource::Input)
    );
    assert_eq!(lease.lease.wake_refs, [outcome.receipt.clone().unwrap()]);
    let pin = &lease.lease.basis.pins[0];
    assert_eq!((pin.source.producer.as_str(), pin.source.facet.as_str()), ("feed", "prices"));
    assert_eq!(pin.receipt, outcome.receipt);
    let input = document(lease.inputs[0].as_ref().unwrap()).unwrap();
    assert_eq!(input.to_string(), r#"{"prices":{"value":2}}"#, "one facet and nothing else");
    let prior = document(lease.prior.as_ref().unwrap()).unwrap();
    assert_eq!(prior["total"], 1);
    assert!(lease.events.is_empty() && lease.attest.is_empty());
    // What arrives now is not in the pins.
    world.ingest(vec![poll("third", 3, 20)]).await;
    world.commit("priced", rendered(&lease, &honest(&lease))).await;
    assert_eq!(world.truth("priced").await.unwrap()["total"], 2);
    world.work().await;
    assert_eq!(world.truth("report").await.unwrap()["line"], "3 and 20");
    world.assert_sound().await;
}

#[tokio::test]
async fn a_node_in_flight_cannot_be_claimed_and_what_comes_meanwhile_is_one_follow_up() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    let lease = world.claim("priced").await;
    for i in 0..20 {
        world.ingest(vec![poll(&format!("b{i}"), 3 + i, 10)]).await;
        assert!(world.engine.claim(REACTOR, "priced", "another").await.unwrap().is_none());
    }
    world.commit("priced", rendered(&lease, &honest(&lease))).await;
    world.work().await;
    assert_eq!(world.statuses("priced").await, [Status::Rendered; 3]);
    assert_eq!(world.truth("priced").await.unwrap()["total"], 22);
    world.assert_sound().await;
}

#[tokio::test]
async fn a_stale_fence_changes_nothing_at_all() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    let expired = world.claim("priced").await;
    world.pass(1_000).await;
    world.pass(1_000).await;
    let lease = world.claim("priced").await;
    let before = world.rows().await;
    let truth = honest(&lease);
    for (node, fence) in [
        ("priced", expired.lease.fence),
        ("priced", lease.lease.fence + 1),
        ("priced", 0),
        ("stocked", 1),
        ("feed", 1),
        ("nobody", 1),
    ] {
        let request = CommitRequest { fence, ..rendered(&lease, &truth) };
        assert_eq!(world.commit(node, request).await, CommitAnswer::Stale);
        assert!(!world.engine.heartbeat(REACTOR, node, fence).await.unwrap());
    }
    assert_eq!(world.rows().await, before);
    world.commit("priced", rendered(&lease, &truth)).await;
    let after = world.rows().await;
    let again = world.commit("priced", rendered(&lease, &truth)).await;
    assert_eq!(again, CommitAnswer::Stale, "a commit is taken once");
    assert_eq!(world.rows().await, after);
    world.assert_sound().await;
}

#[tokio::test]
async fn a_broken_condition_commits_nothing() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    let before = world.truth("priced").await;
    for (truth, word) in [
        (r#"{"total":3}"#, "the sum is that of the feed"),
        ("{}", "total"),
        ("[]", "object"),
        ("{", "truth.json"),
        (r#"{"total":2,"total":2}"#, "truth.json"),
    ] {
        let lease = world.claim("priced").await;
        let answer = world.commit("priced", rendered(&lease, truth)).await;
        let CommitAnswer::Failed { reason, .. } = answer else { panic!("{truth}: {answer:?}") };
        assert!(reason.contains(word), "{truth}: {reason}");
        assert_eq!(world.truth("priced").await, before);
        assert!(world.is_quiet().await, "nobody is woken, and it is not tried again by itself");
        let last = world.chain("priced").await.pop().unwrap();
        assert_eq!(last.failure.unwrap().class, FailureClass::Postcondition);
        assert_eq!(last.cost.tokens.fresh, 1, "what it cost is on the receipt");
        world.engine.retry(REACTOR, "priced").await.unwrap();
    }
    world.work().await;
    assert_eq!(world.truth("report").await.unwrap()["line"], "2 and 10");
    world.assert_sound().await;
}

#[tokio::test]
async fn what_only_the_render_can_judge_has_to_be_attested() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    world.render("priced").await;
    for attested in [None, Some(false)] {
        let lease = world.claim("report").await;
        let (id, text) = &lease.attest[0];
        assert_eq!(text, "the line reads well.");
        let attestations: BTreeMap<_, _> =
            attested.map(|value| (id.clone(), value)).into_iter().collect();
        let result =
            SessionResult::Rendered { files: files(r#"{"line":"x"}"#), attestations, diff: None };
        let request = CommitRequest { fence: lease.lease.fence, result, cost: tokens(1) };
        let answer = world.commit("report", request).await;
        assert!(matches!(answer, CommitAnswer::Failed { .. }), "{answer:?}");
        world.engine.retry(REACTOR, "report").await.unwrap();
    }
    world.work().await;
    assert_eq!(world.truth("report").await.unwrap()["line"], "2 and 10");
    world.assert_sound().await;
}

#[tokio::test]
async fn a_render_that_gives_up_is_final_until_the_next_wake() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    let lease = world.claim("priced").await;
    let needs = Some(r#"{"question":"which currency?"}"#.to_owned());
    let (reason, addressed_to) = ("unclear\0".to_owned(), Some("the owner".to_owned()));
    let result = SessionResult::Failed { reason, needs, addressed_to };
    let request = CommitRequest { fence: lease.lease.fence, result, cost: tokens(5) };
    world.commit("priced", request).await;
    assert!(world.is_quiet().await);
    let failure = world.chain("priced").await.pop().unwrap().failure.unwrap();
    assert_eq!(failure.class, FailureClass::NeedsInput);
    assert_eq!(failure.addressed_to.as_deref(), Some("the owner"));
    assert_eq!(failure.needs.unwrap()["question"], "which currency?");
    // The next wake renders, although the memo of the last good truth would allow a skip.
    world.ingest(vec![poll("b", 1, 10)]).await;
    world.work().await;
    assert_eq!(
        world.statuses("priced").await,
        [Status::Rendered, Status::Failed, Status::Rendered]
    );
    world.assert_sound().await;
}

#[tokio::test]
async fn needs_that_nobody_can_read_do_not_lose_the_failure() {
    let world = World::settled().await;
    for (i, needs) in ["{", r#"{"a":1,"a":2}"#, "1e999", "", "\u{1}"].into_iter().enumerate() {
        world.ingest(vec![poll(&i.to_string(), 2 + i as i64, 10)]).await;
        let lease = world.claim("priced").await;
        let (reason, addressed_to) = ("no".to_owned(), None);
        let result = SessionResult::Failed { reason, needs: Some(needs.into()), addressed_to };
        let request = CommitRequest { fence: lease.lease.fence, result, cost: tokens(1) };
        let answer = world.commit("priced", request).await;
        assert!(matches!(answer, CommitAnswer::Failed { .. }), "{answer:?}");
    }
    world.assert_sound().await;
}

#[tokio::test]
async fn an_unmoved_truth_wakes_nobody_and_an_unmoved_key_starts_nothing() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 1, 11)]).await;
    let lease = world.claim("stocked").await;
    world.commit("stocked", rendered(&lease, r#"{"total":10}"#)).await;
    let last = world.chain("stocked").await.pop().unwrap();
    assert_eq!((last.status, last.moved.len()), (Status::Rendered, 0));
    assert!(world.is_quiet().await);
    // There and back while it was busy: the follow-up is a skip that costs nothing.
    world.ingest(vec![poll("b", 1, 12)]).await;
    let lease = world.claim("stocked").await;
    world.ingest(vec![poll("c", 1, 13)]).await;
    world.ingest(vec![poll("d", 1, 12)]).await;
    world.commit("stocked", rendered(&lease, &honest(&lease))).await;
    let last = world.chain("stocked").await.pop().unwrap();
    assert_eq!((last.status, last.cost.tokens.fresh), (Status::Skipped, 0));
    world.assert_sound().await;
}

#[tokio::test]
async fn a_ready_node_whose_inputs_came_back_is_skipped_before_anyone_pays() {
    let world = World::settled().await;
    world.ingest(vec![poll("there", 2, 10)]).await;
    assert_eq!(world.ready().await, ["priced"]);
    world.ingest(vec![poll("back", 1, 10)]).await;
    assert!(world.is_quiet().await);
    assert!(world.engine.claim(REACTOR, "priced", "w").await.unwrap().is_none());
    assert_eq!(world.statuses("priced").await, [Status::Rendered, Status::Skipped]);
    world.assert_sound().await;
}

#[tokio::test]
async fn a_diamond_never_reads_a_mixture() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 20)]).await;
    world.render("priced").await;
    assert_eq!(world.ready().await, ["stocked"], "one side of the diamond is not settled");
    world.ingest(vec![poll("b", 3, 30)]).await;
    world.work().await;
    let report = world.chain("report").await;
    assert!(report.iter().all(|r| r.cut == prose_ledger::Cut::Exact));
    assert_eq!(world.truth("report").await.unwrap()["line"], "3 and 30");
    world.assert_sound().await;
}

#[tokio::test]
async fn what_is_not_there_cannot_be_worked_on() {
    let world = World::settled().await;
    let engine = &world.engine;
    assert_eq!(code(engine.claim(REACTOR, "nobody", "w").await), "node_unknown");
    assert_eq!(code(engine.claim("nowhere", "priced", "w").await), "reactor_unknown");
    assert!(engine.claim(REACTOR, "feed", "w").await.unwrap().is_none());
    assert!(engine.claim(REACTOR, "priced", "w").await.unwrap().is_none());
    assert_eq!(code(engine.heartbeat("nowhere", "priced", 1).await), "reactor_unknown");
    world.ingest(vec![poll("a", 2, 10)]).await;
    let lease = world.claim("priced").await;
    assert_eq!(code(engine.commit("nowhere", "priced", gave_up(&lease)).await), "reactor_unknown");
    world.assert_sound().await;
}
