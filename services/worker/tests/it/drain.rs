//! Stopping a worker.

use std::time::{Duration, Instant};

use crate::{
    coordinator::refusal,
    world::{LIMIT, LONG_MS, PUBLISHES, WAITS, World, infrastructure, truth},
};

#[tokio::test]
async fn what_runs_may_finish_and_nothing_more_is_taken() {
    let mut world = World::with_lease(LONG_MS).await;
    let worker = world.work_at_once(2, &format!("{WAITS}{PUBLISHES}"));
    world.until_started(1).await;
    let drained = tokio::spawn(worker.drain(LIMIT));
    // The drain is at its wait once it was polled; the runtime of this test has one thread.
    tokio::task::yield_now().await;
    world.hint().await;
    world.open_gate();
    drained.await.unwrap();
    let seen = world.coordinator.seen();
    assert_eq!((seen.claims.len(), seen.commits.len()), (1, 1));
    assert_eq!(truth(&seen.commits[0]), "{\"n\": 1}\n");
    assert!(world.is_work_waiting().await);
    world.assert_nothing_left();
}

#[tokio::test]
async fn what_does_not_finish_in_time_is_handed_back() {
    let world = World::with_lease(LONG_MS).await;
    let worker = world.work(&format!("{WAITS}{PUBLISHES}"));
    world.until_started(1).await;
    worker.drain(Duration::from_millis(1)).await;
    let seen = world.coordinator.seen();
    assert_eq!(seen.commits.len(), 1);
    assert_eq!(infrastructure(&seen.commits[0]), "worker is stopping");
    world.assert_nothing_left();
    assert!(!world.is_work_waiting().await);
}

#[tokio::test]
async fn a_dropped_worker_leaves_nothing_running() {
    let world = World::with_lease(LONG_MS).await;
    let worker = world.work(&format!("{WAITS}{PUBLISHES}"));
    world.until_started(1).await;
    drop(worker);
    world.until("the work back", |seen| seen.commits.len() == 1).await;
    world.until_no_session().await;
}

#[tokio::test]
async fn an_idle_worker_ends_at_once() {
    let world = World::new();
    let started = Instant::now();
    world.work("").drain(LIMIT).await;
    assert!(started.elapsed() < LIMIT / 2);
}

#[tokio::test]
async fn a_worker_that_rests_after_failures_ends_at_once() {
    let mut world = World::new();
    let busy = (0..100).map(|_| Err(refusal("storage_busy", true)));
    world.coordinator.script().claims.extend(busy);
    world.hint().await;
    let worker = world.work("");
    world.until("claims", |seen| seen.claims.len() >= 3).await;
    let started = Instant::now();
    worker.drain(LIMIT).await;
    assert!(started.elapsed() < LIMIT / 2);
    // What it could not claim is there for others.
    assert!(world.is_work_waiting().await);
}

#[tokio::test]
async fn a_worker_ends_although_the_coordinator_takes_no_commit() {
    let world = World::with_lease(LONG_MS).await;
    {
        let mut script = world.coordinator.script();
        script.commits.push_back(Err(refusal("storage_full", true)));
        script.again = true;
    }
    let worker = world.work(PUBLISHES);
    world.until("a commit", |seen| !seen.commits.is_empty()).await;
    let started = Instant::now();
    worker.drain(Duration::from_millis(1)).await;
    assert!(started.elapsed() < LIMIT / 2);
    world.assert_nothing_left();
}
