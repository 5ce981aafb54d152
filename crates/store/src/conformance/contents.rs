//! Trees and blobs.

use std::collections::BTreeMap;

use prose_ir::Address;

use super::{S, begin, commit, content};
use crate::{Changes, Content};

async fn put(store: &S, contents: Vec<Content>) {
    commit(store, Changes { contents, ..Changes::default() }).await;
}

pub(super) async fn storing_twice_changes_nothing(store: &S) {
    put(store, vec![content(b"a"), content(b"b"), content(b"a")]).await;
    put(store, vec![content(b"b"), content(b"c"), content(b"")]).await;
    let texts: [&[u8]; 4] = [b"a", b"b", b"c", b""];
    let expected: BTreeMap<Address, Vec<u8>> =
        texts.iter().map(|text| (Address::of(text), text.to_vec())).collect();
    let mut addresses: Vec<_> = expected.keys().cloned().collect();
    addresses.push(Address::of(b"unknown"));
    addresses.push(Address::of(b"a"));
    assert_eq!(store.contents(&addresses).await.unwrap(), expected);
    let (mut transaction, _) = begin(store).await;
    assert_eq!(transaction.contents(&addresses).await.unwrap(), expected);
    assert!(transaction.contents(&[]).await.unwrap().is_empty());
}

pub(super) async fn old_contents_are_found_among_many(store: &S) {
    const COUNT: u32 = 15_000;
    let text = |number: u32| number.to_le_bytes();
    put(store, (0..COUNT).map(|number| content(&text(number))).collect()).await;
    let large = vec![7; 100_000];
    put(store, vec![content(&large), content(&text(0))]).await;
    put(store, (COUNT..2 * COUNT).map(|number| content(&text(number))).collect()).await;
    put(store, vec![content(&large), content(&text(1))]).await;
    let some: Vec<_> =
        (0..2 * COUNT).step_by(997).map(|number| Address::of(&text(number))).collect();
    assert_eq!(store.contents(&some).await.unwrap().len(), some.len());
    let address = Address::of(&large);
    assert_eq!(store.contents(std::slice::from_ref(&address)).await.unwrap()[&address], large);
}

pub(super) async fn large_bytes_come_back_whole(store: &S) {
    let bytes: Vec<u8> = (0..8 << 20).map(|place: u32| (place % 251) as u8).collect();
    put(store, vec![content(&bytes)]).await;
    let address = Address::of(&bytes);
    let found = store.contents(std::slice::from_ref(&address)).await.unwrap();
    assert!(found[&address] == bytes, "8 MiB differ");
}
