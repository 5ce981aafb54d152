//! The service for workers.

use prose_api::v1::{self, commit_request::Outcome, condition::Kind};

use crate::support::{Server, commit, event, poll, reactor, read, refused, rendered};

#[tokio::test]
async fn a_lease_carries_everything_that_a_render_needs() {
    let mut server = Server::fed().await;
    let lease = server.claim("priced").await.unwrap();
    assert_eq!((lease.reactor.as_str(), lease.node.as_str()), ("shop", "priced"));
    assert_eq!((lease.attempt, lease.lease_ms > 0), (1, true));
    assert_eq!((lease.wake_source.as_str(), lease.surprise.as_str()), ("input", "input"));
    assert_eq!(lease.wake_refs.len(), 1);
    assert!(lease.as_of.ends_with('Z') && lease.prior.is_none() && lease.events.is_empty());
    let contract: prose_ir::Contract = serde_json::from_slice(&lease.contract).unwrap();
    assert_eq!(contract.node, "priced");
    assert_eq!(lease.attest[0].text, "the sum is right.");
    let [input] = lease.inputs.as_slice() else { panic!("{:?}", lease.inputs) };
    assert_eq!([&input.need, &input.producer, &input.facet], ["prices", "feed", "prices"]);
    assert!(input.fingerprint.starts_with("blake3:") && input.receipt.starts_with("blake3:"));
    let files = &input.files.as_ref().unwrap().files;
    assert_eq!(files.keys().collect::<Vec<_>>(), ["prices/truth.json"]);
    assert!(server.claim("priced").await.is_none(), "single flight");
    assert_eq!(server.node("priced").await.condition.unwrap().worker, "worker");

    let answer = server.commit(rendered(&lease, r#"{"total":1}"#)).await;
    assert_eq!((answer.accepted, answer.status.as_str()), (true, "rendered"));
    let receipts = server.receipts("priced").await;
    assert_eq!(receipts[0].address, answer.receipt);
    assert_eq!(read(&receipts[0]).cost.tokens.fresh, 3);
    let late = server.commit(rendered(&lease, r#"{"total":1}"#)).await;
    assert_eq!(late, v1::CommitResponse::default());
    server.ingest(vec![poll("second", 2, 10)]).await;
    let lease = server.claim("priced").await.unwrap();
    let prior = &lease.prior.as_ref().unwrap().files["truth.json"];
    assert_eq!(prior.as_ref(), br#"{"total":1}"#);
    server.stopped().await;
}

#[tokio::test]
async fn events_of_a_rendering_gateway_come_with_its_lease() {
    let mut server = Server::fed().await;
    let outcomes = server.ingest(vec![event("inbox", "a", "1"), event("inbox", "b", " 2.0")]).await;
    assert!(outcomes.iter().all(|o| o.status == "queued" && o.receipt.is_empty()));
    assert_eq!(server.node("inbox").await.queued_events, 2);
    let lease = server.claim("inbox").await.unwrap();
    assert_eq!(lease.events, ["1", "2"]);
    assert_eq!((lease.wake_source.as_str(), lease.surprise.as_str()), ("external", "external"));
    server.commit(rendered(&lease, r#"{"seen":[1,2]}"#)).await;
    assert_eq!(server.node("inbox").await.queued_events, 0);
    server.stopped().await;
}

#[tokio::test]
async fn heartbeats_failures_and_retries() {
    let mut server = Server::fed().await;
    let lease = server.claim("priced").await.unwrap();
    let heartbeat =
        |fence| v1::HeartbeatRequest { reactor: reactor(), node: "priced".into(), fence };
    let alive = server.work.heartbeat(heartbeat(lease.fence)).await.unwrap().into_inner();
    assert!(alive.alive);
    let stale = server.work.heartbeat(heartbeat(lease.fence + 1)).await.unwrap().into_inner();
    assert!(!stale.alive);

    let crash = Outcome::Infrastructure(v1::Infrastructure { reason: "it crashed".into() });
    let answer = server.commit(commit(&lease, crash)).await;
    assert_eq!((answer.accepted, answer.receipt.as_str(), answer.status.as_str()), (true, "", ""));
    let condition = server.node("priced").await.condition.unwrap();
    assert_eq!((condition.kind(), condition.reason.as_str()), (Kind::Backoff, "it crashed"));
    let node = || ("shop".to_owned(), "priced".to_owned());
    let (reactor, priced) = node();
    server.prose.retry(v1::RetryRequest { reactor, node: priced }).await.unwrap();

    let lease = server.claim("priced").await.unwrap();
    assert_eq!(lease.attempt, 2);
    let needs = r#"{"question":"why?"}"#.to_owned();
    let (reason, addressed_to) = ("unclear".to_owned(), "the owner".to_owned());
    let failed = Outcome::Failed(v1::Failed { reason, needs, addressed_to });
    let answer = server.commit(commit(&lease, failed)).await;
    assert_eq!((answer.status.as_str(), answer.reason.as_str()), ("failed", "unclear"));
    let receipts = server.receipts("priced").await;
    let receipt = read(receipts.last().unwrap());
    assert_eq!(receipt.cost.tokens.fresh, 6, "both attempts are paid for");
    assert_eq!(receipt.failure.unwrap().needs.unwrap()["question"], "why?");

    let (reactor, priced) = node();
    server.prose.render(v1::RenderRequest { reactor, node: priced }).await.unwrap();
    server.claim("priced").await.unwrap();
    let (reactor, priced) = node();
    let request = v1::CancelRequest { reactor, node: priced };
    let receipt = server.prose.cancel(request).await.unwrap().into_inner().receipt;
    assert_eq!(server.node("priced").await.head, receipt);
    server.stopped().await;
}

#[tokio::test]
async fn a_refused_truth_tells_the_worker_why() {
    let mut server = Server::fed().await;
    let lease = server.claim("priced").await.unwrap();
    let answer = server.commit(rendered(&lease, "{}")).await;
    assert_eq!((answer.accepted, answer.status.as_str()), (true, "failed"));
    assert!(answer.reason.contains("total"), "{}", answer.reason);
    server.stopped().await;
}

#[tokio::test]
async fn commits_that_say_nothing_are_refused_and_change_nothing() {
    let mut server = Server::fed().await;
    let lease = server.claim("priced").await.unwrap();
    let empty = v1::CommitRequest { outcome: None, ..rendered(&lease, "{}") };
    assert_eq!(refused(server.work.commit(empty).await).code, "request_invalid");
    for path in ["../truth.json", "/truth.json", "", "a//b", "a\0b"] {
        let files = Some(v1::Files { files: [(path.to_owned(), "{}".into())].into() });
        let outcome = Outcome::Rendered(v1::Rendered { files, ..Default::default() });
        let fault = refused(server.work.commit(commit(&lease, outcome)).await);
        assert_eq!(fault.code, "request_invalid", "{path:?}");
        assert!(fault.message.contains("rendered.files"), "{}", fault.message);
    }
    assert!(server.commit(rendered(&lease, r#"{"total":1}"#)).await.accepted);
    server.stopped().await;
}
