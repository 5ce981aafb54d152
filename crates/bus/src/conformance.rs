//! What every bus must do, as one suite that each implementation runs over itself.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::{collections::BTreeSet, future::Future, sync::Arc, time::Duration};

use crate::{
    Bus, Delivery, Error, Filter, Message, Notice, Puller, Subject, Subscription, subject,
};

/// Nothing here takes long; whoever waits longer waits for ever.
const LIMIT: Duration = Duration::from_secs(20);

/// Runs the suite, each case on a bus of its own.
pub async fn run<B: Bus>(new_bus: impl AsyncFn() -> B) {
    macro_rules! cases {
        ($($case:ident),+ $(,)?) => {
            $(
                eprintln!("conformance: {}", stringify!($case));
                let bus: Arc<dyn Bus> = Arc::new(new_bus().await);
                within($case(&bus)).await;
            )+
        };
    }
    cases![
        subscribers_hear_what_fits_in_order,
        work_goes_to_one_puller,
        work_waits_for_its_pool,
        repetitions_are_dropped,
        unsettled_work_comes_again,
        settled_work_does_not_come_again,
        a_dropped_wait_loses_nothing,
        a_waiting_puller_is_woken,
        any_names_can_be_used,
    ];
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.unwrap()
}

type B = Arc<dyn Bus>;

fn message(id: &str, subject: Subject) -> Message {
    Message { id: id.into(), subject, payload: id.as_bytes().into() }
}

fn work(id: &str) -> Message {
    message(id, subject::work("pool", "r", id))
}

async fn publish_work(bus: &B, ids: &[&str]) {
    bus.publish(ids.iter().map(|id| work(id)).collect()).await.unwrap();
}

async fn heard(subscription: &mut Box<dyn Subscription>) -> Message {
    match subscription.next().await.unwrap() {
        Notice::Message(message) => message,
        Notice::Lagged(count) => panic!("lagged by {count}"),
    }
}

async fn next(puller: &mut Box<dyn Puller>) -> Box<dyn Delivery> {
    puller.next().await.unwrap()
}

async fn subscribers_hear_what_fits_in_order(bus: &B) {
    let too_early = message("0", subject::receipt("r", "a", "x"));
    bus.publish(vec![too_early]).await.unwrap();
    let mut all = bus.subscribe(subject::all_receipts("r")).await.unwrap();
    let facet = subject::receipt("r", "a", "x");
    let mut one = bus.subscribe(Filter::from(&facet)).await.unwrap();
    let mut ledger = bus.subscribe(subject::all_ledger("r")).await.unwrap();
    let messages = vec![
        message("1", facet.clone()),
        message("2", subject::receipt("r", "a", "y")),
        message("3", subject::ledger("r", "a")),
        message("4", subject::receipt("other", "a", "x")),
        message("5", facet),
    ];
    bus.publish(messages.clone()).await.unwrap();
    for expected in [0, 1, 4] {
        assert_eq!(heard(&mut all).await, messages[expected]);
    }
    for expected in [0, 4] {
        assert_eq!(heard(&mut one).await, messages[expected]);
    }
    assert_eq!(heard(&mut ledger).await, messages[2]);
}

async fn work_goes_to_one_puller(bus: &B) {
    let ids: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let pull = || async {
        let mut puller = bus.pull("pool").await.unwrap();
        let mut taken = Vec::new();
        for _ in 0..ids.len() / 4 {
            let delivery = next(&mut puller).await;
            taken.push(delivery.message().id.clone());
            delivery.progress().await.unwrap();
            delivery.ack().await.unwrap();
            tokio::task::yield_now().await;
        }
        taken
    };
    let publish = async {
        for id in &ids {
            publish_work(bus, &[id]).await;
            tokio::task::yield_now().await;
        }
    };
    let (a, b, c, d, ()) = tokio::join!(pull(), pull(), pull(), pull(), publish);
    let taken: BTreeSet<_> = [a, b, c, d].concat().into_iter().collect();
    assert_eq!(taken, ids.iter().cloned().collect());
}

async fn work_waits_for_its_pool(bus: &B) {
    publish_work(bus, &["a", "b"]).await;
    let elsewhere = message("c", subject::work("elsewhere", "r", "c"));
    bus.publish(vec![elsewhere]).await.unwrap();
    let mut puller = bus.pull("pool").await.unwrap();
    for expected in ["a", "b"] {
        let delivery = next(&mut puller).await;
        assert_eq!(*delivery.message(), work(expected));
        delivery.ack().await.unwrap();
    }
    let mut puller = bus.pull("elsewhere").await.unwrap();
    assert_eq!(next(&mut puller).await.message().id, "c");
}

async fn repetitions_are_dropped(bus: &B) {
    let mut ledger = bus.subscribe(subject::all_ledger("r")).await.unwrap();
    let receipts = |ids: &[&str]| -> Vec<Message> {
        ids.iter().map(|id| message(id, subject::ledger("r", "a"))).collect()
    };
    bus.publish(receipts(&["1", "2"])).await.unwrap();
    bus.publish(receipts(&["1", "2", "3", "3", "4"])).await.unwrap();
    for expected in ["1", "2", "3", "4"] {
        assert_eq!(heard(&mut ledger).await.id, expected);
    }
    let mut puller = bus.pull("pool").await.unwrap();
    publish_work(bus, &["a:1"]).await;
    next(&mut puller).await.ack().await.unwrap();
    // The same attempt is dropped although it is settled, the next one is not.
    publish_work(bus, &["a:1", "a:2"]).await;
    assert_eq!(next(&mut puller).await.message().id, "a:2");
}

async fn unsettled_work_comes_again(bus: &B) {
    let mut first = bus.pull("pool").await.unwrap();
    let mut second = bus.pull("pool").await.unwrap();
    publish_work(bus, &["a"]).await;
    drop(next(&mut first).await);
    let again = next(&mut second).await;
    assert_eq!(*again.message(), work("a"));
    again.nak().await.unwrap();
    let held = next(&mut first).await;
    assert_eq!(*held.message(), work("a"));
    // A delivery outlives the puller that took it.
    drop(first);
    drop(held);
    let last = next(&mut second).await;
    assert_eq!(*last.message(), work("a"));
    last.ack().await.unwrap();
}

async fn settled_work_does_not_come_again(bus: &B) {
    let mut puller = bus.pull("pool").await.unwrap();
    publish_work(bus, &["a", "b", "c"]).await;
    let (a, b) = (next(&mut puller).await, next(&mut puller).await);
    b.ack().await.unwrap();
    a.ack().await.unwrap();
    drop(puller);
    let mut puller = bus.pull("pool").await.unwrap();
    let c = next(&mut puller).await;
    assert_eq!(c.message().id, "c");
    c.ack().await.unwrap();
    publish_work(bus, &["d"]).await;
    assert_eq!(next(&mut puller).await.message().id, "d");
}

async fn a_dropped_wait_loses_nothing(bus: &B) {
    let mut first = bus.pull("pool").await.unwrap();
    let mut second = bus.pull("pool").await.unwrap();
    let mut ledger = bus.subscribe(subject::all_ledger("r")).await.unwrap();
    for round in 0..20 {
        // Both begin to wait; the first one gives up, perhaps just as the message arrives.
        let id = round.to_string();
        let mut abandoned = Box::pin(first.next());
        let mut waiting = Box::pin(ledger.next());
        assert!(futures_now(&mut abandoned).is_none() && futures_now(&mut waiting).is_none());
        let receipt = message(&format!("receipt {id}"), subject::ledger("r", "a"));
        bus.publish(vec![work(&id), receipt.clone()]).await.unwrap();
        drop((abandoned, waiting));
        let delivery = next(&mut second).await;
        assert_eq!(delivery.message().id, id);
        delivery.ack().await.unwrap();
        assert_eq!(heard(&mut ledger).await, receipt);
    }
}

/// What a future says when it is asked once.
fn futures_now<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::Pin::new(future).poll(&mut context) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

async fn a_waiting_puller_is_woken(bus: &B) {
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let bus = Arc::clone(bus);
            tokio::spawn(async move {
                let mut puller = bus.pull("pool").await?;
                let delivery = puller.next().await?;
                let id = delivery.message().id.clone();
                delivery.ack().await?;
                Ok::<_, Error>(id)
            })
        })
        .collect();
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    publish_work(bus, &["a", "b", "c"]).await;
    let mut taken = BTreeSet::new();
    for task in waiting {
        taken.insert(task.await.unwrap().unwrap());
    }
    assert_eq!(taken, ["a", "b", "c"].map(str::to_owned).into());
}

async fn any_names_can_be_used(bus: &B) {
    for (number, name) in
        ["", "*", ">", "a.b", "a b", "@atomic", "ünï", "\0\r\n"].iter().enumerate()
    {
        let mut receipts = bus.subscribe(subject::all_receipts(name)).await.unwrap();
        let mut puller = bus.pull(name).await.unwrap();
        let receipt = message(&format!("r{number}"), subject::receipt(name, name, name));
        let work = message(&format!("w{number}"), subject::work(name, name, name));
        bus.publish(vec![work.clone(), receipt.clone()]).await.unwrap();
        assert_eq!(heard(&mut receipts).await, receipt);
        let delivery = next(&mut puller).await;
        assert_eq!(*delivery.message(), work);
        delivery.ack().await.unwrap();
    }
}
