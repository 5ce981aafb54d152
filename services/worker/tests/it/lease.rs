//! Keeping and losing leases.

use tonic::Status;

use crate::world::{LONG_MS, PUBLISHES, WAITS, World, lease, truth};

/// Short enough to wait for, long enough for a loaded machine.
const SHORT_MS: u64 = 900;

#[tokio::test]
async fn a_lease_is_kept_for_as_long_as_the_session_runs() {
    let world = World::with_lease(2 * SHORT_MS).await;
    let worker = world.work(&format!("{WAITS}{PUBLISHES}"));
    // That is longer than the lease.
    let seen = world.until("heartbeats", |seen| seen.beats.len() >= 4).await;
    assert_eq!((&*seen.beats[0].reactor, &*seen.beats[0].node), ("tests", "brief"));
    assert!(seen.beats.iter().all(|beat| beat.fence == 7));
    world.open_gate();
    world.until("a commit", |seen| !seen.commits.is_empty()).await;
    let seen = world.end(worker).await;
    assert_eq!(truth(&seen.commits[0]), "{\"n\": 1}\n");
}

#[tokio::test]
async fn a_session_survives_heartbeats_that_fail() {
    let world = World::with_lease(2 * SHORT_MS).await;
    let lost = || Err(Status::unavailable("gone for lunch"));
    world.coordinator.script().beats.extend([lost(), lost()]);
    let worker = world.work(&format!("{WAITS}{PUBLISHES}"));
    world.until("heartbeats", |seen| seen.beats.len() >= 4).await;
    world.open_gate();
    world.until("a commit", |seen| !seen.commits.is_empty()).await;
    world.end(worker).await;
}

#[tokio::test]
async fn a_lost_lease_ends_the_session_and_commits_nothing() {
    let mut world = World::with_lease(SHORT_MS).await;
    world.coordinator.script().beats.push_back(Ok(false));
    // A session that does not listen to TERM either.
    let worker = world.work(&format!("trap '' TERM\n{WAITS}{PUBLISHES}"));
    world.until("a heartbeat", |seen| !seen.beats.is_empty()).await;
    world.until_no_session().await;
    assert!(world.coordinator.seen().commits.is_empty());
    // The worker goes on with the next.
    world.open_gate();
    world.coordinator.script().claims.push_back(Ok(lease(8, LONG_MS)));
    world.hint().await;
    world.until("a commit", |seen| !seen.commits.is_empty()).await;
    let seen = world.end(worker).await;
    assert_eq!(seen.commits.iter().map(|commit| commit.fence).collect::<Vec<_>>(), [8]);
}

#[tokio::test]
async fn a_session_ends_when_its_lease_may_have_run_out() {
    let world = World::with_lease(SHORT_MS).await;
    {
        let mut script = world.coordinator.script();
        script.beats.push_back(Err(Status::unavailable("gone for good")));
        script.again = true;
    }
    let worker = world.work(&format!("{WAITS}{PUBLISHES}"));
    world.until_started(1).await;
    world.until_no_session().await;
    let seen = world.end(worker).await;
    assert!(seen.commits.is_empty());
    // Nor was the coordinator hammered.
    assert!((2..=12).contains(&seen.beats.len()), "{}", seen.beats.len());
}
