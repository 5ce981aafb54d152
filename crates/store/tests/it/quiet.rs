//! An idle store does nothing, and an operation costs few visits to the database.

use prose_store::{Changes, SqliteStore, Store};

#[tokio::test]
async fn each_step_is_one_visit_and_idleness_none() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(store.operations(), 0);
    store.create_reactor("r").await.unwrap();
    assert_eq!(store.operations(), 1);
    let (mut transaction, _) = store.begin("r", None).await.unwrap().unwrap();
    assert_eq!(store.operations(), 2);
    transaction.deliveries(&["a".into(), "b".into()]).await.unwrap();
    assert_eq!(store.operations(), 3);
    transaction.commit(Changes::default()).await.unwrap();
    assert_eq!(store.operations(), 4);
    let idle = store.clone();
    store.settle_outbox(&[]).await.unwrap();
    assert_eq!(idle.operations(), 4);
}
