//! Taking work.

use tonic::Status;

use crate::{
    coordinator::refusal,
    world::{LIMIT, LONG_MS, PUBLISHES, WAITS, World, lease},
};

#[tokio::test]
async fn a_hint_that_is_wrong_costs_a_call() {
    let mut world = World::new();
    world.hint().await;
    let worker = world.work(PUBLISHES);
    world.until("a claim", |seen| !seen.claims.is_empty()).await;
    let seen = world.end(worker).await;
    assert_eq!((seen.claims.len(), seen.commits.len()), (1, 0));
}

#[tokio::test]
async fn a_claim_that_fails_in_passing_is_made_again() {
    for status in [refusal("storage_busy", true), Status::unknown("broken pipe")] {
        let mut world = World::new();
        world.coordinator.script().claims.extend([Err(status), Ok(lease(7, LONG_MS))]);
        world.hint().await;
        let worker = world.work(PUBLISHES);
        world.until("a commit", |seen| !seen.commits.is_empty()).await;
        let seen = world.end(worker).await;
        assert_eq!((seen.claims.len(), seen.commits.len()), (2, 1));
    }
}

#[tokio::test]
async fn a_claim_that_is_refused_for_good_is_not() {
    let mut world = World::new();
    world.coordinator.script().claims.push_back(Err(refusal("not_found", false)));
    world.hint().await;
    let worker = world.work(PUBLISHES);
    world.until("a claim", |seen| !seen.claims.is_empty()).await;
    let seen = world.end(worker).await;
    assert_eq!((seen.claims.len(), seen.commits.len()), (1, 0));
}

#[tokio::test]
async fn no_more_work_is_taken_than_there_are_slots() {
    let mut world = World::new();
    for fence in 1..=5 {
        world.coordinator.script().claims.push_back(Ok(lease(fence, LONG_MS)));
        world.hint().await;
    }
    let worker = world.work_at_once(2, &format!("{WAITS}{PUBLISHES}"));
    world.until_started(2).await;
    assert!(world.is_work_waiting().await);
    assert_eq!(world.coordinator.seen().claims.len(), 2);
    world.open_gate();
    world.until("all commits", |seen| seen.commits.len() == 5).await;
    let seen = world.end(worker).await;
    assert_eq!(seen.open_max, 2);
}

#[tokio::test]
async fn a_worker_without_a_bus_still_ends() {
    let world = World::new();
    world.bus.close();
    let worker = world.work(PUBLISHES);
    worker.drain(LIMIT).await;
    assert!(world.coordinator.seen().claims.is_empty());
}
