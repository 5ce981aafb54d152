//! Stopping and starting again.

use prose_api::{fault, v1};
use prose_bus::{Bus, Notice, subject};
use prose_store::Store;

use crate::support::{REACTOR, Server, poll, reactor, rendered, soon};

#[tokio::test]
async fn stopping_empties_the_outbox() {
    let mut server = Server::start().await;
    let mut ledger = server.bus.subscribe(subject::all_ledger(REACTOR)).await.unwrap();
    server.mount().await;
    server.ingest((0..100).map(|i| poll(&i.to_string(), i, i)).collect()).await;
    let (store, _folder) = server.stopped().await;
    assert!(store.outbox(1).await.unwrap().is_empty());
    for _ in 0..100 {
        assert!(matches!(soon(ledger.next()).await.unwrap(), Notice::Message(_)));
    }
}

#[tokio::test]
async fn who_waits_or_watches_does_not_hold_it_up() {
    let mut server = Server::fed().await;
    let request = v1::WatchRequest { reactor: reactor(), after: 0, from_now: true };
    let mut watch = server.prose.watch(request).await.unwrap().into_inner();
    let mut waiter = server.prose.clone();
    let request = v1::WaitQuietRequest { reactor: reactor() };
    let waiting = waiter.wait_quiet(request);
    let stopping = async {
        // The call is under way once the one after it has been answered.
        server.status().await;
        server.stopped().await
    };
    let (waited, _) = tokio::join!(soon(waiting), stopping);
    let fault = fault(&waited.unwrap_err());
    assert_eq!((fault.code.as_str(), fault.retryable), ("coordinator_unreachable", true));
    assert!(soon(watch.message()).await.is_ok_and(|end| end.is_none()), "the stream just ends");
}

#[tokio::test]
async fn what_was_ready_or_running_goes_on_after_a_restart() {
    let mut server = Server::fed().await;
    let mut server = {
        let lease = server.claim("priced").await.unwrap();
        let mut server = server.restarted().await;
        assert!(server.commit(rendered(&lease, r#"{"total":1}"#)).await.accepted);
        server.ingest(vec![poll("a", 2, 10)]).await;
        server.restarted().await
    };
    // Workers of the new process are told without asking.
    let mut puller = server.bus.pull(prose_engine::WORK_POOL).await.unwrap();
    let delivery = soon(puller.next()).await.unwrap();
    assert_eq!(
        delivery.message().subject,
        subject::work(prose_engine::WORK_POOL, REACTOR, "priced")
    );
    delivery.ack().await.unwrap();
    let lease = server.claim("priced").await.unwrap();
    assert!(server.commit(rendered(&lease, r#"{"total":2}"#)).await.accepted);
    let request = v1::WaitQuietRequest { reactor: reactor() };
    soon(server.prose.wait_quiet(request)).await.unwrap();
    server.stopped().await;
}

#[tokio::test]
async fn a_caller_that_hangs_up_does_not_stop_its_write() {
    let mut server = Server::fed().await;
    let mut client = server.prose.clone();
    let events = vec![poll("a", 2, 20)];
    let call = tokio::spawn(async move {
        client.ingest(v1::IngestRequest { reactor: REACTOR.into(), events }).await
    });
    tokio::task::yield_now().await;
    call.abort();
    // Whether or not it got that far, the same event again is taken once.
    server.ingest(vec![poll("a", 2, 20)]).await;
    assert_eq!(server.receipts("feed").await.len(), 2);
    server.stopped().await;
}
