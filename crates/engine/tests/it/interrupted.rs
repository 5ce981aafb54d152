//! A full disk, callers that go away, and silence.

use std::{future::Future, pin::pin, sync::Arc, task::Poll, time::Duration};

use prose_bus::InProcessBus;
use prose_engine::EventStatus;
use prose_store::Store;

use crate::support::{REACTOR, World, code, honest, poll, rendered, soon};

#[tokio::test]
async fn a_full_disk_loses_nothing_and_work_goes_on_when_there_is_space() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 20)]).await;
    let lease = world.claim("priced").await;
    world.store.limit_pages(1).await.unwrap();
    let before = world.rows().await;
    let full = |i: i64| {
        let pad = "x".repeat(200_000);
        let body =
            format!(r#"{{"prices":{{"value":{i}}},"stock":{{"value":1}},"fetched_at":"{pad}"}}"#);
        crate::support::event("feed", &format!("full {i}"), body)
    };
    for i in 0..3 {
        assert_eq!(code(world.engine.ingest(REACTOR, vec![full(3 + i)]).await), "storage_full");
    }
    let mut truth = honest(&lease);
    truth.insert_str(1, &format!(r#""pad":"{}","#, "y".repeat(200_000)));
    let request = rendered(&lease, &truth);
    let error = world.engine.commit(REACTOR, "priced", request.clone()).await.unwrap_err();
    assert_eq!(error.code(), "storage_full");
    assert!(error.is_retryable());
    assert_eq!(world.rows().await, before);
    assert_eq!(world.truth("priced").await.unwrap()["total"], 1, "it can still be read");

    world.store.limit_pages(u32::MAX - 1).await.unwrap();
    world.commit("priced", request).await;
    let outcomes = world.ingest(vec![full(3)]).await;
    assert_eq!((outcomes[0].status, outcomes[0].repeated), (EventStatus::Rendered, false));
    world.work().await;
    assert_eq!(world.truth("report").await.unwrap()["line"], "3 and 1");
    world.assert_sound().await;
}

/// Polls a future a few times and drops it.
async fn abandon<T>(future: impl Future<Output = T>, polls: usize) -> bool {
    let mut future = pin!(future);
    for _ in 0..polls {
        let polled = std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context)));
        if polled.await.is_ready() {
            return true;
        }
        tokio::task::yield_now().await;
        std::thread::yield_now();
    }
    false
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_the_engine_usable() {
    let world = World::settled().await;
    for polls in (0..400).step_by(7) {
        let number = polls as i64 + 2;
        let key = format!("k{polls}");
        abandon(world.engine.ingest(REACTOR, vec![poll(&key, number, number)]), polls).await;
        // Whatever became of it, the same call again settles it, once.
        world.ingest(vec![poll(&key, number, number)]).await;
        abandon(world.engine.claim(REACTOR, "priced", "gone"), polls).await;
        abandon(world.engine.advance(REACTOR), polls).await;
        // A lease that nobody got to see ends by itself.
        world.pass(2_000).await;
        world.pass(2_000).await;
        let lease = world.claim("priced").await;
        let request = rendered(&lease, &honest(&lease));
        abandon(world.engine.commit(REACTOR, "priced", request.clone()), polls).await;
        world.commit("priced", request).await;
        world.work().await;
        assert_eq!(world.truth("report").await.unwrap()["line"], format!("{number} and {number}"));
    }
    let polled = world.chain("feed").await.len();
    assert_eq!(polled, 1 + (0..400).step_by(7).count(), "each event was taken in once");
    world.assert_sound().await;
}

/// The write goes on when its caller is gone, and then somebody has to hear of it.
#[tokio::test]
async fn what_was_written_for_a_caller_that_went_away_is_made_known() {
    for polls in 1..60 {
        let world = World::settled().await;
        world.engine.flush(&InProcessBus::default()).await.unwrap();
        let bus = InProcessBus::default();
        let mut ledger = {
            use prose_bus::Bus as _;
            bus.subscribe(prose_bus::subject::all_ledger(REACTOR)).await.unwrap()
        };
        let (engine, out) = (world.engine.clone(), Arc::new(bus.clone()));
        let relay = tokio::spawn(async move { engine.run_relay(out).await });
        let done = abandon(world.engine.ingest(REACTOR, vec![poll("a", 2, 10)]), polls).await;
        // Once the lock is free, it is decided whether the event was taken in.
        let receipts = loop {
            let mut changes = world.engine.changes(REACTOR);
            changes.borrow_and_update();
            let receipts = world.engine.status(REACTOR).await.unwrap().receipts;
            if receipts == world.store.reactor(REACTOR).await.unwrap().unwrap().receipts {
                break receipts;
            }
        };
        if world.chain("feed").await.len() == 2 {
            assert!(receipts > 0);
            assert!(matches!(soon(ledger.next()).await.unwrap(), prose_bus::Notice::Message(_)));
        } else {
            assert!(!done);
        }
        relay.abort();
        world.assert_sound().await;
        if done {
            return;
        }
    }
}

/// A future that was never polled has done nothing.
#[tokio::test]
async fn calling_is_not_doing() {
    let world = World::settled().await;
    let before = world.rows().await;
    drop(world.engine.ingest(REACTOR, vec![poll("a", 2, 10)]));
    world.engine.advance(REACTOR).await.unwrap();
    assert_eq!(world.rows().await, before);
    world.assert_sound().await;
}

#[tokio::test]
async fn quiet_is_free() {
    let world = World::settled().await;
    let (ticking, relaying) = (world.engine.clone(), world.engine.clone());
    let bus = Arc::new(InProcessBus::default());
    let clock = tokio::spawn(async move { ticking.run_clock().await });
    let relay = tokio::spawn(async move { relaying.run_relay(bus).await });
    let waiting = world.engine.clone();
    let quiet = tokio::spawn(async move { waiting.wait_quiet(REACTOR).await });
    quiet.await.unwrap().unwrap();
    while !world.store.outbox(1).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    // The relay settles, looks once more, and sleeps; then nothing moves whatever time passes.
    let mut before = world.store.operations();
    loop {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let now = world.store.operations();
        if now == before {
            break;
        }
        before = now;
    }
    tokio::time::pause();
    for _ in 0..60 {
        tokio::time::advance(Duration::from_secs(60)).await;
        tokio::task::yield_now().await;
    }
    tokio::time::resume();
    assert_eq!(world.store.operations(), before);
    clock.abort();
    relay.abort();
    world.assert_sound().await;
}
