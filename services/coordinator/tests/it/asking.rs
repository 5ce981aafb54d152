//! The service for people and programs.

use std::collections::BTreeSet;

use prose_api::v1::{self, condition::Kind};
use prose_ledger::{
    KeyRing,
    verify::{Verifier, verify},
};
use prose_store::{Changes, Content, Store};

use crate::support::{REACTOR, Server, bundle, poll, reactor, read, rendered, soon};

#[tokio::test]
async fn mounting_and_asking_for_what_is_mounted() {
    let mut server = Server::start().await;
    let mounted = server.mount().await;
    assert_eq!((mounted.epoch, mounted.changed), (1, true));
    let again = server.mount().await;
    assert_eq!((again.epoch, again.changed, again.receipt.as_str()), (1, false, ""));
    let request = v1::GetBundleRequest { reactor: reactor() };
    let answer = server.prose.get_bundle(request).await.unwrap().into_inner();
    let parse = |bytes: &[u8]| serde_json::from_slice::<prose_ir::Bundle>(bytes).unwrap();
    assert_eq!((answer.epoch, parse(&answer.bundle)), (1, parse(&bundle())));
    let reactors = server.prose.list_reactors(v1::ListReactorsRequest {}).await.unwrap();
    let [listed] = &reactors.into_inner().reactors[..] else { panic!("one reactor") };
    assert_eq!(
        (listed.name.as_str(), listed.epoch, listed.wave, listed.receipts),
        (REACTOR, 1, 1, 1)
    );
    let status = server.status().await;
    assert!(status.quiet);
    assert_eq!(status.reactor.as_ref(), Some(listed));
    let names: Vec<_> = status.nodes.iter().map(|n| (n.name.as_str(), n.role.as_str())).collect();
    assert_eq!(names, [("feed", "passthrough"), ("inbox", "external"), ("priced", "rendered")]);
    let waits = status.nodes[2].condition.clone().unwrap();
    assert_eq!(
        (waits.kind(), waits.waits_for),
        (Kind::WaitingForInputs, vec!["feed.prices".into()])
    );
    server.stopped().await;
}

#[tokio::test]
async fn events_are_answered_in_order() {
    let mut server = Server::fed().await;
    let events = vec![poll("a", 2, 10), poll("a", 3, 10), poll("b", 2, 10)];
    let outcomes = server.ingest(events).await;
    let summary: Vec<_> = outcomes.iter().map(|o| (o.status.as_str(), o.repeated)).collect();
    assert_eq!(summary, [("rendered", false), ("rendered", true), ("skipped", false)]);
    let status = server.node("feed").await;
    assert_eq!(status.truth_receipt, outcomes[0].receipt);
    assert_eq!(status.head, outcomes[2].receipt);
    assert_eq!(status.fingerprints.len(), 3);
    assert!(!server.status().await.quiet);
    server.stopped().await;
}

#[tokio::test]
async fn an_explanation_names_the_surprise() {
    let mut server = Server::fed().await;
    let lease = server.claim("priced").await.unwrap();
    server.commit(rendered(&lease, r#"{"total":1}"#)).await;
    let outcome = server.ingest(vec![poll("a", 2, 10)]).await.remove(0);
    let lease = server.claim("priced").await.unwrap();
    server.commit(rendered(&lease, r#"{"total":2}"#)).await;
    let request = v1::ExplainRequest { reactor: reactor(), node: "priced".into() };
    let why = server.prose.explain(request).await.unwrap().into_inner();
    let [moved] = &why.moves[..] else { panic!("{:?}", why.moves) };
    let [need, producer, facet] = ["prices", "feed", "prices"].map(ToOwned::to_owned);
    let (before, after) = (moved.before.clone(), moved.after.clone());
    assert_ne!(before, after);
    let receipt = outcome.receipt.clone();
    let what = "input".to_owned();
    assert_eq!(*moved, v1::Move { what, need, producer, facet, before, after, receipt });
    assert_eq!(why.woken_by[0].address, outcome.receipt);
    assert_eq!(why.last.unwrap().address, why.node.unwrap().head);
    server.stopped().await;
}

#[tokio::test]
async fn a_ledger_is_read_in_pages_both_ways_and_verifies() {
    let mut server = Server::fed().await;
    for i in 0..9 {
        server.ingest(vec![poll(&i.to_string(), i, 20)]).await;
    }
    let page = |after, before, newest_first| v1::ListReceiptsRequest {
        reactor: reactor(),
        after,
        before,
        newest_first,
        limit: 4,
        ..Default::default()
    };
    let (mut oldest_first, mut newest_first) = (Vec::new(), Vec::new());
    loop {
        let after = oldest_first.last().map_or(0, |r: &v1::Receipt| r.position);
        let request = page(after, 0, false);
        let receipts = server.prose.list_receipts(request).await.unwrap().into_inner().receipts;
        assert!(receipts.len() <= 4);
        let before = newest_first.last().map_or(0, |r: &v1::Receipt| r.position);
        let request = page(0, before, true);
        newest_first
            .extend(server.prose.list_receipts(request).await.unwrap().into_inner().receipts);
        if receipts.is_empty() {
            break;
        }
        oldest_first.extend(receipts);
        if oldest_first.len() as u64 == server.status().await.reactor.unwrap().receipts {
            break;
        }
    }
    newest_first.reverse();
    assert_eq!(oldest_first, newest_first);
    let positions: Vec<_> = oldest_first.iter().map(|r| r.position).collect();
    assert_eq!(positions, (1..=11).collect::<Vec<_>>());
    let feed = server.receipts("feed").await;
    assert_eq!(feed.len(), 10);
    assert!(feed.iter().all(|receipt| read(receipt).node == "feed"));

    let request = v1::GetHeadRequest { reactor: reactor() };
    let head = server.prose.get_head(request).await.unwrap().into_inner();
    let ring = KeyRing::of(head.keys.iter().map(String::as_str)).unwrap();
    let verifier = Verifier::new(&ring).require_signatures().of_reactor(REACTOR);
    let bodies = oldest_first.iter().map(|receipt| &receipt.body);
    let report = verify(verifier, bodies, Some(&head.head));
    assert!(report.findings.is_empty(), "{:#?}", report.findings);

    let address = feed[3].address.clone();
    for spelling in [address.clone(), address[..30].to_owned()] {
        let request = v1::GetReceiptRequest { reactor: reactor(), address: spelling };
        let answer = server.prose.get_receipt(request).await.unwrap().into_inner();
        assert_eq!(answer.receipt.as_ref(), Some(&feed[3]));
    }
    server.stopped().await;
}

/// Asks for what is left until nothing more comes, as a client that exports a ledger does.
#[tokio::test]
async fn contents_come_in_parts_that_fit_a_message() {
    let mut server = Server::fed().await;
    let tree = server.node("feed").await.tree;
    let large: Vec<Vec<u8>> = (0..5u8).map(|i| vec![i; 12 << 20]).collect();
    let mut wanted = BTreeSet::from([tree]);
    let (transaction, _) = server.store.begin(REACTOR, None).await.unwrap().unwrap();
    let content = |bytes: Vec<u8>| Content { address: prose_ir::Address::of(&bytes), bytes };
    let contents: Vec<_> = large.into_iter().map(content).collect();
    wanted.extend(contents.iter().map(|content| content.address.to_string()));
    transaction.commit(Changes { contents, ..Changes::default() }).await.unwrap();
    let missing = prose_ir::Address::of(b"never stored").to_string();
    wanted.insert(missing.clone());
    let mut calls = 0;
    loop {
        let addresses = wanted.iter().cloned().collect();
        let request = v1::GetContentsRequest { addresses };
        let contents = server.prose.get_contents(request).await.unwrap().into_inner().contents;
        if contents.is_empty() {
            break;
        }
        calls += 1;
        for (address, bytes) in contents {
            assert_eq!(prose_ir::Address::of(&bytes).as_str(), address);
            assert!(wanted.remove(&address), "{address} came twice");
        }
    }
    assert!(calls > 1);
    assert_eq!(wanted, BTreeSet::from([missing]));
    server.stopped().await;
}

#[tokio::test]
async fn a_watcher_goes_on_from_where_it_was_and_sees_what_is_new() {
    let mut server = Server::fed().await;
    server.ingest(vec![poll("a", 2, 10), poll("b", 3, 10)]).await;
    let watch = |after, from_now| v1::WatchRequest { reactor: reactor(), after, from_now };
    let mut all = server.prose.watch(watch(0, false)).await.unwrap().into_inner();
    for position in 1..=4 {
        let receipt = soon(all.message()).await.unwrap().unwrap();
        assert_eq!(receipt.position, position);
    }
    let mut some = server.prose.watch(watch(3, false)).await.unwrap().into_inner();
    assert_eq!(soon(some.message()).await.unwrap().unwrap().position, 4);
    let mut fresh = server.prose.watch(watch(0, true)).await.unwrap().into_inner();
    let outcome = server.ingest(vec![poll("c", 4, 10)]).await.remove(0);
    for stream in [&mut all, &mut some, &mut fresh] {
        let receipt = soon(stream.message()).await.unwrap().unwrap();
        assert_eq!((receipt.position, &receipt.address), (5, &outcome.receipt));
    }
    drop(all);
    // A thousand and more at once do not fit the backlog, and all arrive.
    let many = |k: i64| (0..500).map(|i| poll(&format!("{k} {i}"), i, k)).collect();
    for k in 0..3 {
        server.ingest(many(k)).await;
    }
    for position in 6..=1_505 {
        assert_eq!(soon(some.message()).await.unwrap().unwrap().position, position);
    }
    server.stopped().await;
}

#[tokio::test]
async fn waiting_for_quiet_ends_with_the_last_render() {
    let mut server = Server::fed().await;
    let mut waiter = server.prose.clone();
    let waiting = tokio::spawn(async move {
        waiter.wait_quiet(v1::WaitQuietRequest { reactor: REACTOR.into() }).await
    });
    let lease = server.claim("priced").await.unwrap();
    assert!(!waiting.is_finished());
    server.commit(rendered(&lease, r#"{"total":1}"#)).await;
    soon(waiting).await.unwrap().unwrap();
    let request = v1::WaitQuietRequest { reactor: reactor() };
    soon(server.prose.wait_quiet(request)).await.unwrap();
    server.stopped().await;
}
