//! Gateways that render: events wait in order, none is dropped and none is seen twice.

use prose_engine::{CommitAnswer, EventStatus, IncomingEvent};
use prose_ledger::Status;

use crate::support::{FEED, INBOX, REACTOR, World, crashed, event, gave_up, honest, rendered};

fn mail(numbers: std::ops::Range<u64>) -> Vec<IncomingEvent> {
    numbers.map(|n| event("inbox", &n.to_string(), n.to_string())).collect()
}

async fn seen(world: &World) -> Vec<u64> {
    let truth = world.truth("inbox").await.unwrap();
    serde_json::from_value(truth["seen"].clone()).unwrap()
}

#[tokio::test]
async fn events_wait_and_all_are_read_in_order() {
    let world = World::new(&[INBOX]).await;
    assert!(world.is_quiet().await, "nothing to read yet");
    let outcomes = world.ingest(mail(0..3)).await;
    assert!(outcomes.iter().all(|o| o.status == EventStatus::Queued && o.receipt.is_none()));
    assert_eq!(world.node("inbox").await.queued_events, 3);
    let lease = world.claim("inbox").await;
    assert_eq!(lease.events, [b"0", b"1", b"2"]);
    // What comes meanwhile is for the follow-up, a repetition included only once.
    world.ingest(mail(2..5)).await;
    world.commit("inbox", rendered(&lease, &honest(&lease))).await;
    assert_eq!(seen(&world).await, [0, 1, 2]);
    let lease = world.claim("inbox").await;
    assert_eq!(lease.events, [b"3", b"4"]);
    world.commit("inbox", rendered(&lease, &honest(&lease))).await;
    assert_eq!(seen(&world).await, [0, 1, 2, 3, 4]);
    assert!(world.is_quiet().await);
    assert_eq!(world.node("inbox").await.queued_events, 0);
    world.assert_sound().await;
}

#[tokio::test]
async fn a_failed_render_has_read_nothing() {
    let world = World::new(&[INBOX]).await;
    world.ingest(mail(0..2)).await;
    let lease = world.claim("inbox").await;
    world.commit("inbox", gave_up(&lease)).await;
    assert!(world.is_quiet().await);
    assert_eq!(world.node("inbox").await.queued_events, 2);
    let world = world.restarted();
    world.ingest(mail(2..3)).await;
    // A truth that lacks its field is refused by the gate.
    let lease = world.claim("inbox").await;
    assert_eq!(lease.events.len(), 3);
    let refused = world.commit("inbox", rendered(&lease, "{}")).await;
    assert!(matches!(refused, CommitAnswer::Failed { .. }));
    world.engine.retry(REACTOR, "inbox").await.unwrap();
    let lease = world.claim("inbox").await;
    world.commit("inbox", crashed(&lease, 1)).await;
    world.ingest(mail(3..4)).await;
    world.pass(2_000).await;
    world.work().await;
    assert_eq!(seen(&world).await, [0, 1, 2, 3]);
    assert_eq!(world.statuses("inbox").await, [Status::Failed, Status::Failed, Status::Rendered]);
    world.assert_sound().await;
}

#[tokio::test]
async fn an_expired_or_cancelled_render_has_read_nothing() {
    let world = World::new(&[INBOX, FEED]).await;
    world.ingest(mail(0..1)).await;
    let expired = world.claim("inbox").await;
    world.pass(1_000).await;
    let late = world.commit("inbox", rendered(&expired, &honest(&expired))).await;
    assert_eq!(late, CommitAnswer::Stale);
    world.pass(1_000).await;
    let cancelled = world.claim("inbox").await;
    assert_eq!(cancelled.lease.attempt, 2);
    world.engine.cancel(REACTOR, "inbox").await.unwrap();
    world.ingest(mail(1..2)).await;
    world.work().await;
    assert_eq!(seen(&world).await, [0, 1]);
    world.assert_sound().await;
}

#[tokio::test]
async fn more_events_than_one_read_of_the_store_brings() {
    let world = World::new(&[INBOX]).await;
    for batch in 0..3 {
        world.ingest(mail(batch * 900..(batch + 1) * 900)).await;
    }
    world.work().await;
    assert_eq!(seen(&world).await, (0..2_700).collect::<Vec<_>>());
    world.assert_sound().await;
}

#[tokio::test]
async fn a_new_contract_keeps_what_waits() {
    let world = World::new(&[INBOX]).await;
    world.ingest(mail(0..2)).await;
    let lease = world.claim("inbox").await;
    world.mount(&[&INBOX.replace("All mail, sorted.", "All mail.")]).await;
    let late = world.commit("inbox", rendered(&lease, &honest(&lease))).await;
    assert_eq!(late, CommitAnswer::Stale);
    world.work().await;
    assert_eq!(seen(&world).await, [0, 1]);
    // Nothing waits and nothing changed: a wake by force renders with no events to read.
    world.engine.force(REACTOR, "inbox").await.unwrap();
    let lease = world.claim("inbox").await;
    assert!(lease.events.is_empty());
    world.commit("inbox", rendered(&lease, &honest(&lease))).await;
    assert_eq!(seen(&world).await, [0, 1]);
    world.assert_sound().await;
}
