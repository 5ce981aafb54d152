//! Infrastructure failures: backoff, the last attempt, leases that expire.

use prose_engine::{CommitAnswer, CommitRequest};
use prose_ledger::{FailureClass, Status, SurpriseCause};
use prose_reconciler::{Condition, Cost};

use crate::support::{
    FEED, POLICY, PRICED, REACTOR, REPORT, STOCKED, World, crashed, honest, poll, rendered, soon,
};

async fn backoff(world: &World, node: &str) -> (i64, u32) {
    match world.node(node).await.condition {
        Condition::Backoff { not_before, attempts, .. } => {
            (not_before - prose_engine::Clock::now(world.clock.as_ref()), attempts)
        }
        other => panic!("{node}: {other:?}"),
    }
}

#[tokio::test]
async fn a_crash_is_tried_again_with_growing_waits_and_then_fails_for_good() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    let mut waits = Vec::new();
    for attempt in 1..=3 {
        let lease = world.claim("priced").await;
        assert_eq!(lease.lease.attempt, attempt);
        let answer = world.commit("priced", crashed(&lease, 10)).await;
        if attempt < 3 {
            assert_eq!(answer, CommitAnswer::Retrying);
            let (wait, attempts) = backoff(&world, "priced").await;
            assert_eq!(attempts, attempt);
            world.pass(wait - 1).await;
            assert!(world.engine.claim(REACTOR, "priced", "w").await.unwrap().is_none());
            world.pass(1).await;
            waits.push(wait);
        } else {
            assert!(matches!(answer, CommitAnswer::Failed { .. }), "{answer:?}");
        }
    }
    assert!(waits[0] < waits[1], "{waits:?}");
    let last = world.chain("priced").await.pop().unwrap();
    let failure = last.failure.unwrap();
    assert_eq!(failure.class, FailureClass::Infrastructure);
    assert!(failure.reason.contains("it crashed"), "{}", failure.reason);
    assert_eq!(last.cost.tokens.fresh, 30, "all attempts are paid for on the receipt");
    assert_eq!(last.cost.surprise_cause, SurpriseCause::Input);
    assert_eq!(world.statuses("priced").await, [Status::Rendered, Status::Failed]);
    assert!(world.is_quiet().await);
    world.assert_sound().await;
}

#[tokio::test]
async fn an_attempt_that_succeeds_pays_for_those_before_it() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    let lease = world.claim("priced").await;
    world.commit("priced", crashed(&lease, 10)).await;
    let world = world.restarted();
    world.ingest(vec![poll("b", 3, 10)]).await;
    assert_eq!(world.ready().await, Vec::<String>::new(), "a wake does not shorten the wait");
    world.pass(1_000).await;
    world.work().await;
    assert_eq!(world.charged("priced").await, 1 + 10 + 1);
    assert_eq!(world.truth("report").await.unwrap()["line"], "3 and 10");
    world.assert_sound().await;
}

#[tokio::test]
async fn tokens_of_an_attempt_outlive_lost_leases_cancels_and_new_contracts() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    let lease = world.claim("priced").await;
    world.commit("priced", crashed(&lease, 10)).await;
    for _ in 0..2 {
        world.pass(1_000).await;
        world.claim("priced").await;
        world.pass(1_000).await;
    }
    assert_eq!(world.statuses("priced").await, [Status::Rendered, Status::Failed]);
    assert_eq!(world.charged("priced").await, 11);

    world.ingest(vec![poll("b", 3, 10)]).await;
    let lease = world.claim("priced").await;
    world.commit("priced", crashed(&lease, 20)).await;
    world.engine.cancel(REACTOR, "priced").await.unwrap();
    assert_eq!(world.charged("priced").await, 31);

    world.ingest(vec![poll("c", 4, 10)]).await;
    let lease = world.claim("priced").await;
    world.commit("priced", crashed(&lease, 40)).await;
    world.mount(&[FEED, &PRICED.replace("The sum.", "A sum."), STOCKED, REPORT]).await;
    world.work().await;
    assert_eq!(world.charged("priced").await, 31 + 40 + 1);
    world.assert_sound().await;
}

#[tokio::test]
async fn tokens_count_even_when_nobody_says_who_spent_them() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    let lease = world.claim("priced").await;
    let cost = Cost { fresh: 10, ..Cost::default() };
    let request = CommitRequest { cost, ..rendered(&lease, &honest(&lease)) };
    world.commit("priced", request).await;
    assert_eq!(world.charged("priced").await, 11);
    world.assert_sound().await;
}

#[tokio::test]
async fn counts_beyond_what_json_keeps_exactly_are_capped() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    for _ in 0..2 {
        let lease = world.claim("priced").await;
        let cost = Cost {
            harness: Some("h".into()),
            fresh: u64::MAX,
            reused: u64::MAX,
            duration_ms: u64::MAX,
            ..Cost::default()
        };
        world.commit("priced", CommitRequest { cost, ..crashed(&lease, 0) }).await;
        world.pass(1_000).await;
    }
    world.work().await;
    world.assert_sound().await;
}

#[tokio::test]
async fn a_lease_expires_and_a_heartbeat_keeps_it() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    let lease = world.claim("priced").await;
    assert_eq!(lease.lease_ms, POLICY.lease_ms as u64);
    for _ in 0..5 {
        world.pass(900).await;
        assert!(world.engine.heartbeat(REACTOR, "priced", lease.lease.fence).await.unwrap());
    }
    world.pass(999).await;
    assert!(matches!(world.node("priced").await.condition, Condition::InFlight { .. }));
    world.pass(1).await;
    let (_, attempts) = backoff(&world, "priced").await;
    assert_eq!(attempts, 1);
    assert!(!world.engine.heartbeat(REACTOR, "priced", lease.lease.fence).await.unwrap());
    let late = world.commit("priced", rendered(&lease, &honest(&lease))).await;
    assert_eq!(late, CommitAnswer::Stale);
    world.pass(1_000).await;
    world.work().await;
    assert_eq!(world.truth("report").await.unwrap()["line"], "2 and 10");
    world.assert_sound().await;
}

#[tokio::test]
async fn a_broken_harness_above_does_not_hold_up_the_others() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 20)]).await;
    let lease = world.claim("priced").await;
    world.commit("priced", crashed(&lease, 1)).await;
    world.work().await;
    assert_eq!(world.truth("report").await.unwrap()["line"], "1 and 20");
    assert!(!world.is_quiet().await, "an attempt is still to come");
    world.pass(1_000).await;
    world.work().await;
    assert_eq!(world.truth("report").await.unwrap()["line"], "2 and 20");
    world.assert_sound().await;
}

/// The clock finds out by itself, whichever operation set the deadline.
#[tokio::test]
async fn the_clock_does_what_is_due() {
    let world = World::settled().await;
    let engine = world.engine.clone();
    let clock = tokio::spawn(async move { engine.run_clock().await });
    world.ingest(vec![poll("a", 2, 10)]).await;
    world.claim("priced").await;
    let mut changes = world.engine.changes(REACTOR);
    changes.borrow_and_update();
    // The clock sleeps by the machine's time, and looks at the engine's when it wakes.
    world.clock.set_forward(10_000);
    soon(changes.changed()).await.unwrap();
    let (_, attempts) = backoff(&world, "priced").await;
    assert_eq!(attempts, 1);
    world.clock.set_forward(10_000);
    soon(changes.changed()).await.unwrap();
    assert_eq!(world.ready().await, ["priced"]);
    clock.abort();
    world.assert_sound().await;
}
