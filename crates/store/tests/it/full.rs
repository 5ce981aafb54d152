//! A full disk: nothing is lost, and work goes on when there is space.

use std::{fs, path::Path, process::Command};

use prose_ir::Address;
use prose_store::{Changes, Content, NewReceipt, SqliteStore, Store};

/// A commit of a receipt and 64 KiB, numbered `position`.
fn step(position: u64) -> Changes {
    let bytes = position.to_le_bytes().repeat(8 << 10);
    let address = Address::of(&bytes);
    let receipt = NewReceipt {
        position,
        node: "n".into(),
        seq: position,
        address: address.clone(),
        status: "rendered".into(),
        bytes: Vec::new(),
    };
    let contents = vec![Content { address, bytes }];
    Changes { receipts: vec![receipt], contents, ..Changes::default() }
}

/// Commits until there is no space; answers how many commits stand.
async fn fill(store: &SqliteStore) -> u64 {
    for position in 1..10_000 {
        let (transaction, loaded) = store.begin("r", None).await.unwrap().unwrap();
        assert_eq!(loaded.reactor.receipts + 1, position);
        if let Err(error) = transaction.commit(step(position)).await {
            assert_eq!(error.code(), "storage_full", "{error:?}");
            assert!(error.is_retryable());
            return position - 1;
        }
    }
    panic!("the disk is never full");
}

async fn goes_on(store: &SqliteStore, stored: u64) {
    let (transaction, loaded) = store.begin("r", None).await.unwrap().unwrap();
    assert_eq!(loaded.reactor.receipts, stored);
    transaction.commit(step(stored + 1)).await.unwrap();
    for position in [1, stored, stored + 1] {
        let Content { address, bytes } = step(position).contents.remove(0);
        assert!(store.contents(std::slice::from_ref(&address)).await.unwrap()[&address] == bytes);
    }
}

#[tokio::test]
async fn a_file_that_may_not_grow() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    assert!(store.create_reactor("r").await.unwrap());
    store.limit_pages(200).await.unwrap();
    let stored = fill(&store).await;
    assert!(stored > 0);
    assert_eq!(store.reactor("r").await.unwrap().unwrap().receipts, stored, "reads go on");
    store.limit_pages(100_000).await.unwrap();
    goes_on(&store, stored).await;
}

struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(at: &'a Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=6m", "tmpfs"]).arg(at);
        mount.output().ok()?.status.success().then_some(Self(at))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).output();
    }
}

#[tokio::test]
async fn a_disk_that_is_really_full() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(folder.path()) else {
        eprintln!("skipped: may not mount a small disk here");
        return;
    };
    let ballast = folder.path().join("ballast");
    fs::write(&ballast, vec![0; 2 << 20]).unwrap();
    let state = folder.path().join("state");
    let store = SqliteStore::open(&state).unwrap();
    assert!(store.create_reactor("r").await.unwrap());
    let stored = fill(&store).await;
    assert!(stored > 0);
    // It stays an answer, however often it is tried.
    for _ in 0..3 {
        let (transaction, _) = store.begin("r", None).await.unwrap().unwrap();
        let error = transaction.commit(step(stored + 1)).await.unwrap_err();
        assert_eq!(error.code(), "storage_full", "{error:?}");
    }
    fs::remove_file(&ballast).unwrap();
    goes_on(&store, stored).await;
    drop(store);
    let store = SqliteStore::open(&state).unwrap();
    assert_eq!(store.reactor("r").await.unwrap().unwrap().receipts, stored + 1);
    drop((store, disk));
}
