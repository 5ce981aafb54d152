//! Handing in what came of a render.

use prose_api::v1;

use crate::{
    coordinator::{accepted, refusal},
    world::{LONG_MS, PUBLISHES, World, infrastructure, lease, truth},
};

#[tokio::test]
async fn a_commit_that_comes_late_is_no_trouble() {
    let mut world = World::with_lease(LONG_MS).await;
    world.coordinator.script().commits.push_back(Ok(v1::CommitResponse::default()));
    let worker = world.work(PUBLISHES);
    world.until("a commit", |seen| seen.commits.len() == 1).await;
    world.coordinator.script().claims.push_back(Ok(lease(8, LONG_MS)));
    world.hint().await;
    world.until("the next commit", |seen| seen.commits.len() == 2).await;
    world.end(worker).await;
}

#[tokio::test]
async fn a_commit_that_fails_in_passing_is_tried_again() {
    let world = World::with_lease(LONG_MS).await;
    let full = || Err(refusal("storage_full", true));
    world.coordinator.script().commits.extend([full(), full(), Ok(accepted())]);
    let worker = world.work(PUBLISHES);
    world.until("three tries", |seen| seen.commits.len() == 3).await;
    let seen = world.end(worker).await;
    assert_eq!(seen.commits[0], seen.commits[2]);
    assert_eq!(truth(&seen.commits[2]), "{\"n\": 1}\n");
}

#[tokio::test]
async fn the_tries_end_with_the_lease() {
    let world = World::with_lease(900).await;
    {
        let mut script = world.coordinator.script();
        script.beats.push_back(Ok(false));
        script.commits.push_back(Err(refusal("storage_full", true)));
        script.again = true;
    }
    let worker = world.work(PUBLISHES);
    world.until("a heartbeat", |seen| !seen.beats.is_empty()).await;
    let seen = world.end(worker).await;
    assert_eq!(seen.beats.len(), 1);
    assert!((1..=5).contains(&seen.commits.len()), "{}", seen.commits.len());
}

#[tokio::test]
async fn a_commit_that_is_refused_for_good_becomes_a_failure_that_says_so() {
    let world = World::with_lease(LONG_MS).await;
    world.coordinator.script().commits.push_back(Err(refusal("request_invalid", false)));
    let worker = world.work(PUBLISHES);
    world.until("two commits", |seen| seen.commits.len() == 2).await;
    let seen = world.end(worker).await;
    assert_eq!(
        infrastructure(&seen.commits[1]),
        "the coordinator refused the commit: refused with request_invalid"
    );
    assert_eq!(seen.commits[1].usage, seen.commits[0].usage);
}

#[tokio::test]
async fn a_coordinator_that_refuses_everything_is_left_alone() {
    let world = World::with_lease(LONG_MS).await;
    let no = || Err(refusal("request_invalid", false));
    world.coordinator.script().commits.extend([no(), no()]);
    let worker = world.work(PUBLISHES);
    world.until("two commits", |seen| seen.commits.len() == 2).await;
    let seen = world.end(worker).await;
    assert_eq!(seen.commits.len(), 2);
}
