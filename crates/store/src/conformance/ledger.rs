//! Receipts: chains, pages, addresses.

use super::{R, S, begin, commit, receipt};
use crate::{Changes, Error, Page, ReceiptQuery, ReceiptRow};

/// Receipts `from..=to`, of node `a` where the position is odd and of `b` where it is even.
fn alternating(from: u64, to: u64) -> Changes {
    let of = |position: u64| {
        let name = if position % 2 == 1 { "a" } else { "b" };
        receipt(position, name, position.div_ceil(2))
    };
    Changes { receipts: (from..=to).map(of).collect(), ..Changes::default() }
}

pub(super) async fn chains_take_no_gap_and_no_fork(store: &S) {
    commit(store, alternating(1, 4)).await;
    for (bad, why) in [
        (receipt(4, "a", 3), "a position again"),
        (receipt(6, "a", 3), "a gap in the ledger"),
        (receipt(5, "a", 2), "a fork of the chain"),
        (receipt(5, "a", 4), "a gap in the chain"),
        (receipt(5, "new", 0), "a chain that starts at 0"),
        (receipt(5, "new", 2), "a chain that starts at 2"),
    ] {
        let (transaction, loaded) = begin(store).await;
        assert_eq!(loaded.reactor.receipts, 4);
        let changes = Changes { receipts: vec![bad], ..Changes::default() };
        let refused = transaction.commit(changes).await;
        assert!(matches!(refused, Err(Error::Conflict { .. })), "{why}: {refused:?}");
    }
    commit(store, alternating(5, 8)).await;
}

async fn positions(store: &S, node: Option<&str>, page: Page, limit: usize) -> Vec<u64> {
    let query = ReceiptQuery { node: node.map(str::to_owned), page, limit };
    store.receipts(R, query).await.unwrap().into_iter().map(|row| row.position).collect()
}

pub(super) async fn pages_cover_a_ledger_in_both_directions(store: &S) {
    assert!(store.create_reactor("another").await.unwrap());
    for from in [1, 11, 21] {
        commit(store, alternating(from, from + 9)).await;
        let (transaction, _) = store.begin("another", None).await.unwrap().unwrap();
        transaction.commit(alternating(from, from + 9)).await.unwrap();
    }
    for (node, first, step) in [(None, 1, 1), (Some("a"), 1, 2), (Some("b"), 2, 2)] {
        let all: Vec<u64> = (first..=30).step_by(step).collect();
        let (mut forward, mut after) = (Vec::new(), 0);
        loop {
            let page = positions(store, node, Page::OldestFirst { after }, 7).await;
            let Some(last) = page.last() else { break };
            after = *last;
            forward.extend(page);
        }
        assert_eq!(forward, all);
        let (mut backward, mut before) = (Vec::new(), None);
        loop {
            let page = positions(store, node, Page::NewestFirst { before }, 4).await;
            let Some(last) = page.last() else { break };
            before = Some(*last);
            backward.extend(page);
        }
        backward.reverse();
        assert_eq!(backward, all);
    }
    assert!(positions(store, Some("c"), Page::OldestFirst { after: 0 }, 9).await.is_empty());
    assert!(positions(store, None, Page::OldestFirst { after: u64::MAX }, 9).await.is_empty());
    assert!(positions(store, None, Page::NewestFirst { before: Some(0) }, 9).await.is_empty());
    assert!(positions(store, None, Page::NewestFirst { before: None }, 0).await.is_empty());
    let all = positions(store, None, Page::NewestFirst { before: Some(u64::MAX) }, 99).await;
    assert_eq!(all.len(), 30);
}

pub(super) async fn receipts_are_found_by_address_and_prefix(store: &S) {
    const COUNT: u64 = 5000;
    let changes = alternating(1, COUNT);
    let addresses: Vec<_> = changes.receipts.iter().map(|r| r.address.clone()).collect();
    commit(store, changes).await;
    for position in [1, 2, 2047, 2048, 2049, COUNT] {
        let address = &addresses[position as usize - 1];
        let found = store.receipt(R, address).await.unwrap().unwrap();
        assert_eq!((found.position, &found.address), (position, address));
        for digits in [12, 15, 40, 64] {
            let prefix = &address.as_str()["blake3:".len()..][..digits];
            let found = store.receipts_by_prefix(R, prefix, 2).await.unwrap();
            assert_eq!(found.len(), 1, "{prefix}");
            assert_eq!(found[0].position, position);
        }
        let (mut transaction, _) = begin(store).await;
        assert!(transaction.receipt(address).await.unwrap().is_some());
    }
    let starts_with = |prefix: &str, limit: usize| -> Vec<u64> {
        let fits = |row: &(usize, &prose_ir::Address)| row.1.as_str().starts_with(prefix);
        let newest_first = addresses.iter().enumerate().rev().filter(fits);
        newest_first.map(|(index, _)| index as u64 + 1).take(limit).collect()
    };
    let found = |rows: Vec<ReceiptRow>| rows.into_iter().map(|row| row.position);
    for prefix in ["blake3:0", "blake3:a7", "blake3:f0c"] {
        for limit in [2, 10_000] {
            let rows = store.receipts_by_prefix(R, prefix, limit).await.unwrap();
            let mut rows: Vec<_> = found(rows).collect();
            let mut expected = starts_with(prefix, limit);
            if limit > 2 {
                // All of them, whatever the order.
                rows.sort_unstable();
                expected.sort_unstable();
            }
            assert_eq!(rows, expected, "{prefix} {limit}");
        }
    }
    let unknown = prose_ir::Address::of(b"unknown");
    assert_eq!(store.receipt(R, &unknown).await.unwrap(), None);
    for nothing in ["", "blake3:", "sha256:aa", "AB", "%", "zz"] {
        assert!(store.receipts_by_prefix(R, nothing, 9).await.unwrap().is_empty(), "{nothing}");
    }
    assert!(store.create_reactor("another").await.unwrap());
    assert_eq!(store.receipt("another", &addresses[0]).await.unwrap(), None);
}
