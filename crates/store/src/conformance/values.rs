//! Any text is a name, and what is unknown is empty.

use super::{S, all_receipts, content, node, receipt};
use crate::{Changes, EventRow, NewDelivery, OutboxMessage, ReactorUpdate};

const NAMES: [&str; 6] = ["", "\0", "a\0b", "a", "ünï 🦀", "'; DROP TABLE nodes; --"];

pub(super) async fn any_text_and_bytes_come_back(store: &S) {
    let bytes: Vec<u8> = (0..=255).collect();
    for reactor in NAMES {
        assert!(store.create_reactor(reactor).await.unwrap(), "{reactor:?}");
        let (transaction, _) = store.begin(reactor, None).await.unwrap().unwrap();
        let numbered = || NAMES.iter().zip(1..);
        let changes = Changes {
            reactor: Some(ReactorUpdate {
                head: bytes.clone(),
                state: bytes.clone(),
                ..ReactorUpdate::default()
            }),
            nodes: NAMES.map(|name| node(name, name)).to_vec(),
            receipts: numbered().map(|(name, position)| receipt(position, name, 1)).collect(),
            contents: vec![content(&bytes)],
            deliveries: NAMES
                .map(|key| NewDelivery { key: key.into(), outcome: key.into() })
                .to_vec(),
            events: NAMES
                .map(|name| EventRow {
                    node: name.into(),
                    ordinal: 0,
                    key: name.into(),
                    bytes: bytes.clone(),
                })
                .to_vec(),
            outbox: NAMES
                .map(|name| OutboxMessage {
                    id: name.into(),
                    subject: name.into(),
                    payload: bytes.clone(),
                })
                .to_vec(),
            ..Changes::default()
        };
        transaction.commit(changes).await.unwrap();
        let row = store.reactor(reactor).await.unwrap().unwrap();
        assert_eq!((row.name.as_str(), &row.head, &row.state), (reactor, &bytes, &bytes));
        let nodes = store.nodes(reactor).await.unwrap();
        assert_eq!(nodes.len(), NAMES.len());
        assert!(nodes.iter().all(|row| row.state == row.node.as_bytes()));
        assert!(nodes.is_sorted_by(|a, b| a.node < b.node), "by their bytes");
        let receipts = store.receipts(reactor, all_receipts()).await.unwrap();
        assert!(receipts.iter().map(|row| row.node.as_str()).eq(NAMES));
        let outcomes = store.deliveries(reactor, &NAMES.map(str::to_owned)).await.unwrap();
        assert!(outcomes.iter().all(|(key, outcome)| key.as_bytes() == outcome.as_slice()));
        assert_eq!(outcomes.len(), NAMES.len());
        for name in NAMES {
            let events = store.events(reactor, name, 0, 1).await.unwrap();
            assert_eq!((events[0].key.as_str(), &events[0].bytes), (name, &bytes));
        }
    }
    let outbox = store.outbox(1000).await.unwrap();
    assert_eq!(outbox.len(), NAMES.len() * NAMES.len());
    assert!(outbox.iter().all(|row| row.message.id == row.message.subject));
}

pub(super) async fn nothing_is_known_of_strangers(store: &S) {
    let unknown = "unknown";
    assert_eq!(store.reactor(unknown).await.unwrap(), None);
    assert_eq!(store.load(unknown).await.unwrap(), None);
    assert!(store.begin(unknown, None).await.unwrap().is_none());
    assert!(store.nodes(unknown).await.unwrap().is_empty());
    assert_eq!(store.epoch(unknown, 1).await.unwrap(), None);
    assert!(store.receipts(unknown, all_receipts()).await.unwrap().is_empty());
    assert!(store.receipts_by_prefix(unknown, "a", 1).await.unwrap().is_empty());
    assert!(store.events(unknown, "n", 0, 9).await.unwrap().is_empty());
    assert!(store.deliveries(unknown, &["k".into()]).await.unwrap().is_empty());
    assert!(store.deadlines(9).await.unwrap().is_empty());
    assert!(store.outbox(9).await.unwrap().is_empty());
}
