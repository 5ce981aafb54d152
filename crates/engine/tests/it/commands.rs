//! Retry, force and cancel.

use prose_engine::CommitAnswer;
use prose_ledger::{FailureClass, Status, SurpriseCause};

use crate::support::{REACTOR, World, code, crashed, gave_up, honest, poll, rendered};

#[tokio::test]
async fn a_retry_needs_a_failure() {
    let world = World::settled().await;
    let engine = &world.engine;
    let before = world.rows().await;
    assert_eq!(code(engine.retry(REACTOR, "priced").await), "command_refused");
    assert_eq!(code(engine.retry(REACTOR, "feed").await), "command_refused");
    assert_eq!(code(engine.retry(REACTOR, "nobody").await), "node_unknown");
    assert_eq!(code(engine.retry("nowhere", "priced").await), "reactor_unknown");
    assert_eq!(world.rows().await, before);
    world.ingest(vec![poll("a", 2, 10)]).await;
    let lease = world.claim("priced").await;
    assert_eq!(code(engine.retry(REACTOR, "priced").await), "command_refused");
    world.commit("priced", gave_up(&lease)).await;
    engine.retry(REACTOR, "priced").await.unwrap();
    world.work().await;
    let last = world.chain("priced").await.pop().unwrap();
    assert_eq!((last.status, last.cost.surprise_cause), (Status::Rendered, SurpriseCause::Retry));
    world.assert_sound().await;
}

#[tokio::test]
async fn a_retry_ends_the_wait_for_another_attempt() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    let lease = world.claim("priced").await;
    world.commit("priced", crashed(&lease, 5)).await;
    world.engine.retry(REACTOR, "priced").await.unwrap();
    let lease = world.claim("priced").await;
    assert_eq!(lease.lease.attempt, 2);
    world.commit("priced", rendered(&lease, &honest(&lease))).await;
    assert_eq!(world.charged("priced").await, 1 + 5 + 1);
    world.assert_sound().await;
}

#[tokio::test]
async fn force_renders_what_has_not_moved() {
    let world = World::settled().await;
    assert_eq!(code(world.engine.force(REACTOR, "feed").await), "command_refused");
    assert_eq!(code(world.engine.force(REACTOR, "nobody").await), "node_unknown");
    world.engine.force(REACTOR, "priced").await.unwrap();
    world.work().await;
    let last = world.chain("priced").await.pop().unwrap();
    assert_eq!((last.status, last.moved.len()), (Status::Rendered, 0));
    assert!(world.is_quiet().await);
    // During a render, it asks for one more.
    world.ingest(vec![poll("a", 2, 10)]).await;
    let lease = world.claim("priced").await;
    world.engine.force(REACTOR, "priced").await.unwrap();
    let world = world.restarted();
    world.commit("priced", rendered(&lease, &honest(&lease))).await;
    assert!(world.ready().await.contains(&"priced".to_owned()));
    world.work().await;
    assert_eq!(world.statuses("priced").await, [Status::Rendered; 4]);
    world.assert_sound().await;
}

#[tokio::test]
async fn cancel_stops_a_render_or_a_wait_and_the_truth_stands() {
    let world = World::settled().await;
    assert_eq!(code(world.engine.cancel(REACTOR, "priced").await), "command_refused");
    assert_eq!(code(world.engine.cancel(REACTOR, "feed").await), "command_refused");
    world.ingest(vec![poll("a", 2, 10)]).await;
    let lease = world.claim("priced").await;
    let receipt = world.engine.cancel(REACTOR, "priced").await.unwrap();
    assert!(!world.engine.heartbeat(REACTOR, "priced", lease.lease.fence).await.unwrap());
    let late = world.commit("priced", rendered(&lease, &honest(&lease))).await;
    assert_eq!(late, CommitAnswer::Stale);
    let row = world.engine.receipt(REACTOR, receipt.as_str()).await.unwrap();
    assert_eq!(row.node, "priced");
    let last = world.chain("priced").await.pop().unwrap();
    assert_eq!(last.failure.unwrap().class, FailureClass::Cancelled);
    assert_eq!(world.truth("priced").await.unwrap()["total"], 1);
    assert!(world.is_quiet().await);

    world.engine.retry(REACTOR, "priced").await.unwrap();
    let lease = world.claim("priced").await;
    world.commit("priced", crashed(&lease, 5)).await;
    world.engine.cancel(REACTOR, "priced").await.unwrap();
    assert!(world.is_quiet().await, "no attempt is left to come");
    world.engine.retry(REACTOR, "priced").await.unwrap();
    world.work().await;
    assert_eq!(world.truth("report").await.unwrap()["line"], "2 and 10");
    world.assert_sound().await;
}
