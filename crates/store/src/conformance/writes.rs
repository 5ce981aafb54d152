//! Commits: whole or not at all, and there after reopening.

use super::{Place, R, S, all_receipts, begin, commit, content, node, receipt};
use crate::{Changes, Error, EventRow, NewDelivery, NewEpoch, OutboxMessage, ReactorUpdate};

fn everything() -> Changes {
    Changes {
        reactor: Some(ReactorUpdate {
            wave: 7,
            epoch: 1,
            head: b"head".to_vec(),
            state: b"state".to_vec(),
        }),
        nodes: vec![node("a", "1"), node("b", "2")],
        removed_nodes: Vec::new(),
        receipts: vec![receipt(1, "a", 1), receipt(2, "b", 1)],
        contents: vec![content(b"tree"), content(b"blob")],
        deliveries: vec![delivery("k", "outcome")],
        events: vec![event("a", 0)],
        epoch: Some(NewEpoch { number: 1, bundle: b"bundle".to_vec() }),
        outbox: vec![message("m")],
    }
}

fn delivery(key: &str, outcome: &str) -> NewDelivery {
    NewDelivery { key: key.into(), outcome: outcome.into() }
}

fn event(node: &str, ordinal: u64) -> EventRow {
    let bytes = format!("event {ordinal}").into_bytes();
    EventRow { node: node.into(), ordinal, key: format!("key {ordinal}"), bytes }
}

fn message(id: &str) -> OutboxMessage {
    OutboxMessage { id: id.into(), subject: "prose.work.p.r.n".into(), payload: b"p".to_vec() }
}

async fn assert_everything(store: &S) {
    let changes = everything();
    let loaded = store.load(R).await.unwrap().unwrap();
    let row = &loaded.reactor;
    assert_eq!((row.name.as_str(), row.revision, row.receipts), (R, 1, 2));
    assert_eq!((row.wave, row.epoch), (7, 1));
    assert_eq!((row.head.as_slice(), row.state.as_slice()), (&b"head"[..], &b"state"[..]));
    assert_eq!(loaded.nodes, changes.nodes);
    let receipts = store.receipts(R, all_receipts()).await.unwrap();
    assert_eq!(receipts.len(), 2);
    for (stored, written) in receipts.iter().zip(&changes.receipts) {
        assert_eq!(stored.bytes, written.bytes);
        assert_eq!((stored.position, stored.seq), (written.position, written.seq));
        assert_eq!((&stored.node, &stored.address), (&written.node, &written.address));
        assert_eq!(stored.status, written.status);
    }
    let addresses: Vec<_> = changes.contents.iter().map(|c| c.address.clone()).collect();
    assert_eq!(store.contents(&addresses).await.unwrap().len(), 2);
    assert_eq!(store.deliveries(R, &["k".into()]).await.unwrap()["k"], b"outcome");
    assert_eq!(store.events(R, "a", 0, u64::MAX).await.unwrap(), changes.events);
    assert_eq!(store.epoch(R, 1).await.unwrap().unwrap(), b"bundle");
    let outbox = store.outbox(10).await.unwrap();
    assert_eq!(outbox.into_iter().map(|row| row.message).collect::<Vec<_>>(), changes.outbox);
}

async fn assert_nothing(store: &S) {
    let loaded = store.load(R).await.unwrap().unwrap();
    assert_eq!((loaded.reactor.revision, loaded.reactor.receipts), (0, 0));
    assert_eq!((loaded.reactor.wave, loaded.nodes.len()), (0, 0));
    assert!(store.receipts(R, all_receipts()).await.unwrap().is_empty());
    assert!(store.contents(&[content(b"tree").address]).await.unwrap().is_empty());
    assert!(store.deliveries(R, &["k".into()]).await.unwrap().is_empty());
    assert!(store.events(R, "a", 0, u64::MAX).await.unwrap().is_empty());
    assert_eq!(store.epoch(R, 1).await.unwrap(), None);
    assert!(store.outbox(10).await.unwrap().is_empty());
}

pub(super) async fn all_or_nothing(store: &S) {
    let (transaction, _) = begin(store).await;
    // The last thing written breaks a rule, after everything else was fine.
    let mut broken = everything();
    broken.receipts.push(receipt(4, "a", 2));
    assert!(matches!(transaction.commit(broken).await, Err(Error::Conflict { .. })));
    assert_nothing(store).await;
    let (transaction, _) = begin(store).await;
    let mut broken = everything();
    broken.events.push(event("a", 0));
    assert!(matches!(transaction.commit(broken).await, Err(Error::Conflict { .. })));
    assert_nothing(store).await;
    assert_eq!(commit(store, everything()).await, 1);
    assert_everything(store).await;
}

pub(super) async fn everything_is_there_after_reopening(place: &impl Place) {
    let store = place.open().await;
    assert!(store.create_reactor(R).await.unwrap());
    commit(&store, everything()).await;
    drop(store);
    let store = place.open().await;
    assert_everything(&store).await;
    // An open transaction goes with its store.
    let (transaction, _) = begin(&store).await;
    drop((store, transaction));
    let store = place.open().await;
    assert_everything(&store).await;
    assert_eq!(commit(&store, Changes::default()).await, 2);
}

pub(super) async fn a_revision_is_counted(store: &S) {
    commit(store, everything()).await;
    assert_eq!(commit(store, Changes::default()).await, 2);
    let row = store.reactor(R).await.unwrap().unwrap();
    assert_eq!((row.revision, row.wave, row.receipts), (2, 7, 2), "the row stays as it was");
    let (transaction, loaded) = begin(store).await;
    assert_eq!(loaded.reactor, row);
    drop(transaction);
}

pub(super) async fn reactors_are_created_once(store: &S) {
    commit(store, everything()).await;
    assert!(!store.create_reactor(R).await.unwrap());
    assert_everything(store).await;
    assert!(store.create_reactor("another").await.unwrap());
    let names: Vec<_> = store.reactors().await.unwrap().into_iter().map(|r| r.name).collect();
    assert_eq!(names, ["another", R]);
    assert!(store.nodes("another").await.unwrap().is_empty());
    assert!(store.receipts("another", all_receipts()).await.unwrap().is_empty());
    let (transaction, _) = store.begin("another", None).await.unwrap().unwrap();
    let same_names = Changes { contents: Vec::new(), ..everything() };
    assert_eq!(transaction.commit(same_names).await.unwrap(), 1);
}

pub(super) async fn the_outbox_keeps_order_until_settled(store: &S) {
    for pair in [["a", "b"], ["c", "d"]] {
        let outbox = pair.map(message).to_vec();
        commit(store, Changes { outbox, ..Changes::default() }).await;
    }
    let ids = |rows: &[crate::OutboxRow]| -> String {
        rows.iter().map(|row| row.message.id.as_str()).collect()
    };
    let first = store.outbox(3).await.unwrap();
    assert_eq!(ids(&first), "abc");
    store.settle_outbox(&[first[0].id, first[2].id]).await.unwrap();
    store.settle_outbox(&[first[0].id]).await.unwrap();
    store.settle_outbox(&[]).await.unwrap();
    let rest = store.outbox(10).await.unwrap();
    assert_eq!(ids(&rest), "bd");
    store.settle_outbox(&rest.iter().map(|row| row.id).collect::<Vec<_>>()).await.unwrap();
    assert!(store.outbox(10).await.unwrap().is_empty());
    commit(store, Changes { outbox: vec![message("e")], ..Changes::default() }).await;
    assert!(store.outbox(1).await.unwrap()[0].id > rest[1].id, "an id is never given twice");
}

pub(super) async fn deliveries_are_unique_per_reactor(store: &S) {
    let of = |key: &str| Changes { deliveries: vec![delivery(key, "1")], ..Changes::default() };
    // Long keys differ in their last letter only.
    let long = ["x".repeat(10_000), "x".repeat(9_999) + "y"];
    for key in ["a", "", long[0].as_str(), long[1].as_str()] {
        commit(store, of(key)).await;
        let (mut transaction, _) = begin(store).await;
        let keys = [key.to_owned(), "unknown".to_owned()];
        assert_eq!(transaction.deliveries(&keys).await.unwrap().len(), 1);
        let again = transaction.commit(of(key)).await;
        assert!(matches!(again, Err(Error::Conflict { .. })), "{again:?}");
    }
    assert!(store.create_reactor("another").await.unwrap());
    let (transaction, _) = store.begin("another", None).await.unwrap().unwrap();
    transaction.commit(of("a")).await.unwrap();
}

pub(super) async fn events_are_read_by_range(store: &S) {
    let events: Vec<_> = (0..10).map(|ordinal| event("g", ordinal)).collect();
    commit(store, Changes { events: events.clone(), ..Changes::default() }).await;
    commit(store, Changes { events: vec![event("h", 3)], ..Changes::default() }).await;
    assert_eq!(store.events(R, "g", 3, 7).await.unwrap(), events[3..7]);
    assert_eq!(store.events(R, "g", 7, u64::MAX).await.unwrap(), events[7..]);
    assert!(store.events(R, "g", 4, 4).await.unwrap().is_empty());
    let (mut transaction, _) = begin(store).await;
    assert_eq!(transaction.events("g", 9, 20).await.unwrap(), events[9..]);
}

pub(super) async fn epochs_are_kept(store: &S) {
    for number in 1..=3 {
        let epoch = NewEpoch { number, bundle: format!("bundle {number}").into_bytes() };
        commit(store, Changes { epoch: Some(epoch), ..Changes::default() }).await;
    }
    assert_eq!(store.epoch(R, 2).await.unwrap().unwrap(), b"bundle 2");
    let (mut transaction, _) = begin(store).await;
    assert_eq!(transaction.epoch(3).await.unwrap().unwrap(), b"bundle 3");
    assert_eq!(transaction.epoch(4).await.unwrap(), None);
    let epoch = Some(NewEpoch { number: 3, bundle: Vec::new() });
    let again = transaction.commit(Changes { epoch, ..Changes::default() }).await;
    assert!(matches!(again, Err(Error::Conflict { .. })));
}
