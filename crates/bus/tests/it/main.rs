//! The in-process bus, from outside.
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use prose_bus::{Bus, Error, InProcessBus, Limits, Message, Notice, Subject, conformance, subject};

fn message(id: u64, subject: Subject) -> Message {
    Message { id: id.to_string(), subject, payload: Vec::new().into() }
}

fn small() -> InProcessBus {
    InProcessBus::new(Limits { backlog_max: 8, work_max: 4, recent_max: 16 })
}

#[tokio::test]
async fn in_process_conforms() {
    conformance::run(async || InProcessBus::default()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_process_conforms_on_several_threads() {
    conformance::run(async || InProcessBus::default()).await;
}

#[tokio::test]
async fn a_slow_subscriber_is_told_and_holds_nobody_up() {
    let bus = small();
    let mut slow = bus.subscribe(subject::all_ledger("r")).await.unwrap();
    for id in 0..1000 {
        bus.publish(vec![message(id, subject::ledger("r", "n"))]).await.unwrap();
    }
    let Notice::Lagged(count) = slow.next().await.unwrap() else { panic!("no notice") };
    assert!(count >= 900);
    for id in count..1000 {
        let Notice::Message(message) = slow.next().await.unwrap() else { panic!("lags again") };
        assert_eq!(message.id, id.to_string());
    }
}

#[tokio::test]
async fn a_full_queue_refuses_until_there_is_room() {
    let bus = small();
    let works = |from, to| (from..to).map(|id| message(id, subject::work("p", "r", "n"))).collect();
    let full = bus.publish(works(0, 6)).await;
    assert!(matches!(&full, Err(error @ Error::Full { limit: 4, .. }) if error.is_retryable()));
    let mut puller = bus.pull("p").await.unwrap();
    let held = puller.next().await.unwrap();
    assert!(bus.publish(works(0, 6)).await.is_err(), "what is in flight takes room too");
    held.ack().await.unwrap();
    puller.next().await.unwrap().ack().await.unwrap();
    // The whole is published again; what was taken then is not taken twice.
    bus.publish(works(0, 6)).await.unwrap();
    for id in 2..6 {
        let delivery = puller.next().await.unwrap();
        assert_eq!(delivery.message().id, id.to_string());
        delivery.ack().await.unwrap();
    }
}

#[tokio::test]
async fn a_repetition_is_recognised_within_the_window_only() {
    let bus = small();
    let mut ledger = bus.subscribe(subject::all_ledger("r")).await.unwrap();
    for id in (0..17).chain([1, 0]) {
        bus.publish(vec![message(id, subject::ledger("r", "n"))]).await.unwrap();
    }
    // Seventeen ids are one more than the window holds: 0 is new again, 1 is not.
    let mut heard = Vec::new();
    for _ in 0..9 {
        if let Notice::Message(message) = ledger.next().await.unwrap() {
            heard.push(message.id);
        }
    }
    assert_eq!(heard[5..], ["15", "16", "0"]);
}

#[tokio::test]
async fn closing_ends_every_wait() {
    let bus = InProcessBus::default();
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let mut puller = bus.pull("p").await.unwrap();
        tasks.push(tokio::spawn(async move { puller.next().await.err() }));
        let mut all = bus.subscribe(subject::all_ledger("r")).await.unwrap();
        tasks.push(tokio::spawn(async move { all.next().await.err() }));
    }
    tokio::task::yield_now().await;
    bus.close();
    for task in tasks {
        assert!(matches!(task.await.unwrap(), Some(Error::Closed)));
    }
    let late = bus.publish(vec![message(1, subject::ledger("r", "n"))]).await;
    assert!(matches!(late, Err(Error::Closed)));
    assert!(matches!(bus.pull("p").await.err(), Some(Error::Closed)));
    assert!(matches!(bus.subscribe(subject::all_ledger("r")).await.err(), Some(Error::Closed)));
}
