//! The state folder: modes, locks, and files that are not ours.

use std::{error::Error as _, fs, os::unix::fs::PermissionsExt, path::Path};

use prose_store::{Changes, SqliteStore, Store};
use rusqlite::Connection;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn code(folder: &Path) -> &'static str {
    SqliteStore::open(folder).err().unwrap().code()
}

#[tokio::test]
async fn only_the_owner_may_enter() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("deep/state");
    let store = SqliteStore::open(&folder).unwrap();
    assert!(store.create_reactor("r").await.unwrap());
    assert_eq!(mode(&folder), 0o700);
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{:?}", entry.path());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["lock", "state.sqlite", "state.sqlite-shm", "state.sqlite-wal"]);
    drop(store);
    assert!(!folder.join("state.sqlite-wal").exists(), "the log is tidied away");
}

#[tokio::test]
async fn the_second_holder_learns_who_the_first_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let error = SqliteStore::open(folder.path()).err().unwrap();
    assert_eq!(error.code(), "state_locked");
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    assert!(store.create_reactor("r").await.unwrap(), "the first one goes on");
    let (transaction, _) = store.begin("r", None).await.unwrap().unwrap();
    drop(store);
    assert_eq!(code(folder.path()), "state_locked", "a transaction keeps the store open");
    assert_eq!(transaction.commit(Changes::default()).await.unwrap(), 1);
    // A commit's last act may still be under way on the writer.
    while let Err(error) = SqliteStore::open(folder.path()) {
        assert_eq!(error.code(), "state_locked");
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_newer_layout_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(folder.path()).unwrap());
    let file = folder.path().join("state.sqlite");
    let connection = Connection::open(&file).unwrap();
    let sql = "INSERT INTO refinery_schema_history
               SELECT 999, 'future', applied_on, checksum FROM refinery_schema_history LIMIT 1";
    connection.execute(sql, []).unwrap();
    drop(connection);
    let before = fs::read(&file).unwrap();
    let error = SqliteStore::open(folder.path()).err().unwrap();
    assert_eq!(error.code(), "state_newer");
    assert!(error.to_string().contains("999"), "{error}");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn what_is_not_ours_is_unreadable_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.sqlite");
    let text = "not a database, but long enough to be taken for one. ".repeat(100);
    fs::write(&file, &text).unwrap();
    let error = SqliteStore::open(folder.path()).err().unwrap();
    assert_eq!(error.code(), "state_unreadable");
    assert!(error.source().is_some(), "the cause is kept");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);

    fs::remove_file(&file).unwrap();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE songs (name TEXT)").unwrap();
    drop(other);
    assert_eq!(code(folder.path()), "state_unreadable");

    // The first page is whole, what follows is not.
    fs::remove_file(&file).unwrap();
    drop(SqliteStore::open(folder.path()).unwrap());
    let mut bytes = fs::read(&file).unwrap();
    bytes[100..].fill(0xA5);
    fs::write(&file, bytes).unwrap();
    assert_eq!(code(folder.path()), "state_unreadable");
}

#[test]
fn a_folder_that_cannot_be_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = SqliteStore::open(&file).err().unwrap();
    assert_eq!(error.code(), "state_io");
    assert!(error.to_string().contains("file"), "{error}");
    fs::create_dir_all(folder.path().join("state/state.sqlite")).unwrap();
    assert_eq!(code(&folder.path().join("state")), "state_io");
}
