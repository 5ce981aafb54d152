//! A crash at any moment: a new engine on the same folder goes on where the old one stopped.

use std::sync::Arc;

use prose_bus::{Bus, InProcessBus};
use prose_engine::WORK_POOL;

use crate::support::{REACTOR, SHOP, World, crashed, honest, poll, rendered, soon};

/// The nodes that workers are told of; waits for as many as are ready.
async fn heard(world: &World, bus: &InProcessBus, count: usize) -> Vec<String> {
    world.engine.flush(bus).await.unwrap();
    let mut puller = bus.pull(WORK_POOL).await.unwrap();
    let mut nodes = Vec::new();
    for _ in 0..count {
        let delivery = soon(puller.next()).await.unwrap();
        let subject = delivery.message().subject.as_str().to_owned();
        nodes.push(subject.rsplit('.').next().unwrap().to_owned());
        delivery.ack().await.unwrap();
    }
    nodes
}

#[tokio::test]
async fn ready_nodes_are_made_known_again() {
    let world = World::settled().await;
    world.engine.flush(&InProcessBus::default()).await.unwrap();
    world.ingest(vec![poll("a", 2, 20)]).await;
    let bus = InProcessBus::default();
    assert_eq!(heard(&world, &bus, 2).await, ["priced", "stocked"]);
    // The bus is lost with the process, and so are the messages that were published on it.
    let world = world.restarted();
    world.engine.recover().await.unwrap();
    assert_eq!(heard(&world, &InProcessBus::default(), 2).await, ["priced", "stocked"]);
    // The same bus lives on: the repetition is not dropped.
    world.engine.recover().await.unwrap();
    assert_eq!(heard(&world, &bus, 2).await, ["priced", "stocked"]);
    world.work().await;
    world.assert_sound().await;
}

/// Every step of a story with all kinds of events, with a crash before each.
#[tokio::test]
async fn a_crash_between_any_two_steps_changes_nothing() {
    let mut world = World::empty();
    world.mount(&SHOP).await;
    world = world.restarted();
    world.ingest(vec![poll("a", 1, 10)]).await;
    world = world.restarted();
    let lease = world.claim("priced").await;
    world = world.restarted();
    world.commit("priced", crashed(&lease, 3)).await;
    world = world.restarted();
    world.pass(1_000).await;
    world = world.restarted();
    let lease = world.claim("priced").await;
    world = world.restarted();
    assert!(world.engine.heartbeat(REACTOR, "priced", lease.lease.fence).await.unwrap());
    world.ingest(vec![poll("b", 2, 10)]).await;
    world = world.restarted();
    world.commit("priced", rendered(&lease, &honest(&lease))).await;
    world = world.restarted();
    let lost = world.claim("stocked").await;
    world = world.restarted();
    world.pass(1_000).await;
    world = world.restarted();
    world.pass(1_000).await;
    world = world.restarted();
    world.work().await;
    world = world.restarted();
    assert!(world.is_quiet().await);
    assert!(!world.engine.heartbeat(REACTOR, "stocked", lost.lease.fence).await.unwrap());
    assert_eq!(world.truth("report").await.unwrap()["line"], "2 and 10");
    assert!(world.ingest(vec![poll("a", 7, 7)]).await[0].repeated);
    world.assert_sound().await;
}

/// A lease that was running when the process died ends by the clock of the new one.
#[tokio::test]
async fn recovery_takes_up_the_timers() {
    let world = World::settled().await;
    world.ingest(vec![poll("a", 2, 10)]).await;
    world.claim("priced").await;
    let world = world.restarted();
    world.clock.set_forward(10_000);
    world.engine.recover().await.unwrap();
    let mut changes = world.engine.changes(REACTOR);
    changes.borrow_and_update();
    let engine = world.engine.clone();
    let clock = tokio::spawn(async move { engine.run_clock().await });
    soon(changes.changed()).await.unwrap();
    clock.abort();
    world.pass(10_000).await;
    assert_eq!(world.ready().await, ["priced"]);
    world.assert_sound().await;
}

/// The relay publishes what a dead process had committed and not yet published.
#[tokio::test]
async fn nothing_committed_stays_unpublished() {
    let world = World::settled().await;
    let world = world.restarted();
    world.engine.recover().await.unwrap();
    let bus = InProcessBus::default();
    let mut ledger = bus.subscribe(prose_bus::subject::all_ledger(REACTOR)).await.unwrap();
    let out: Arc<dyn Bus> = Arc::new(bus.clone());
    let engine = world.engine.clone();
    let relay = tokio::spawn(async move { engine.run_relay(out).await });
    let expected = world.receipts().await.iter().filter(|r| !r.node.starts_with('@')).count();
    for _ in 0..expected {
        assert!(matches!(soon(ledger.next()).await.unwrap(), prose_bus::Notice::Message(_)));
    }
    relay.abort();
    world.assert_sound().await;
}
