//! The suite that every store passes.

use std::{path::Path, sync::Arc};

use prose_store::{SqliteStore, Store, conformance};
use tempfile::TempDir;

struct Folder(TempDir);

#[async_trait::async_trait]
impl conformance::Place for Folder {
    async fn open(&self) -> Arc<dyn Store> {
        let folder: &Path = self.0.path();
        Arc::new(SqliteStore::open(folder).unwrap())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_conforms() {
    conformance::run(async || Folder(tempfile::tempdir().unwrap())).await;
}
