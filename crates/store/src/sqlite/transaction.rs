//! A transaction: the writer's open SQL transaction together with the writing lock.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use prose_ir::Address;
use rusqlite::Connection;
use tokio::sync::OwnedMutexGuard;

use super::{
    contents, deliveries, epochs, events, nodes, outbox,
    reactors::{self, ReactorId},
    receipts,
    store::Inner,
};
use crate::{Changes, Error, EventRow, Loaded, ReceiptRow, Transaction};

/// The right to use the writer. Held by a transaction, or by the job that ends it.
pub(super) type WriteLock = OwnedMutexGuard<()>;

/// Where the reactor stands in this transaction.
#[derive(Clone, Copy)]
struct Base {
    reactor: ReactorId,
    revision: u64,
    receipts: u64,
}

pub(super) struct SqliteTransaction {
    inner: Arc<Inner>,
    base: Base,
    /// `None` once a job that ends the transaction has taken it.
    lock: Option<WriteLock>,
}

impl SqliteTransaction {
    /// Runs on the writer. Leaves the SQL transaction open exactly when it returns one.
    pub fn begin(
        inner: Arc<Inner>,
        connection: &mut Connection,
        lock: WriteLock,
        reactor: &str,
        known_revision: Option<u64>,
    ) -> Result<Option<(Self, Loaded)>, Error> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        match nodes::load(connection, reactor, known_revision) {
            Ok(Some((id, loaded))) => {
                let base = Base {
                    reactor: id,
                    revision: loaded.reactor.revision,
                    receipts: loaded.reactor.receipts,
                };
                Ok(Some((Self { inner, base, lock: Some(lock) }, loaded)))
            }
            other => {
                rollback(connection);
                other.map(|_| None)
            }
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection, Base) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let base = self.base;
        self.inner.writer.call(move |connection| read(connection, base)).await
    }
}

#[async_trait]
impl Transaction for SqliteTransaction {
    async fn deliveries(&mut self, keys: &[String]) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let keys = keys.to_vec();
        self.read(move |connection, base| deliveries::read(connection, base.reactor, &keys)).await
    }

    async fn epoch(&mut self, number: u64) -> Result<Option<Vec<u8>>, Error> {
        self.read(move |connection, base| epochs::read(connection, base.reactor, number)).await
    }

    async fn contents(
        &mut self,
        addresses: &[Address],
    ) -> Result<BTreeMap<Address, Vec<u8>>, Error> {
        let addresses = addresses.to_vec();
        self.read(move |connection, _| contents::read(connection, &addresses)).await
    }

    async fn events(&mut self, node: &str, from: u64, to: u64) -> Result<Vec<EventRow>, Error> {
        let node = node.to_owned();
        self.read(move |connection, base| events::read(connection, base.reactor, &node, from, to))
            .await
    }

    async fn receipt(&mut self, address: &Address) -> Result<Option<ReceiptRow>, Error> {
        let address = address.clone();
        self.read(move |connection, base| {
            receipts::find(connection, base.reactor, base.receipts, &address)
        })
        .await
    }

    async fn commit(mut self: Box<Self>, changes: Changes) -> Result<u64, Error> {
        let lock = self.lock.take();
        let base = self.base;
        let commit = move |connection: &mut Connection| {
            let outcome = write(connection, base, &changes).and_then(|revision| {
                connection.prepare_cached("COMMIT")?.execute([])?;
                Ok(revision)
            });
            if outcome.is_err() {
                rollback(connection);
            }
            drop(lock);
            outcome
        };
        self.inner.writer.call(commit).await
    }
}

impl Drop for SqliteTransaction {
    fn drop(&mut self) {
        let Some(lock) = self.lock.take() else { return };
        // The lock goes with the job: whoever is next finds no transaction open. When the thread
        // is gone, so is the transaction.
        let _ = self.inner.writer.submit(move |connection| {
            rollback(connection);
            drop(lock);
        });
    }
}

fn write(connection: &Connection, base: Base, changes: &Changes) -> Result<u64, Error> {
    let Base { reactor, revision, receipts } = base;
    let next = revision + 1;
    nodes::write(connection, reactor, next, &changes.nodes, &changes.removed_nodes)?;
    contents::write(connection, &changes.contents)?;
    let receipts = receipts::append(connection, reactor, receipts, &changes.receipts)?;
    deliveries::write(connection, reactor, &changes.deliveries)?;
    events::write(connection, reactor, &changes.events)?;
    if let Some(epoch) = &changes.epoch {
        epochs::write(connection, reactor, epoch)?;
    }
    outbox::write(connection, &changes.outbox)?;
    reactors::advance(connection, reactor, receipts, changes.reactor.as_ref())
}

fn rollback(connection: &Connection) {
    // Some failures, a full disk among them, roll back by themselves.
    if connection.is_autocommit() {
        return;
    }
    if let Err(error) = connection.execute_batch("ROLLBACK") {
        tracing::error!(%error, "failed to roll back");
    }
}
