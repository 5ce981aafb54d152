//! The store itself: opening it, and its operations.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use prose_ir::Address;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use tokio::sync::Mutex;

use super::{
    contents, deliveries, epochs, events,
    folder::Folder,
    migrations, nodes, outbox,
    pool::Pool,
    reactors::{self, ReactorId},
    receipts,
    transaction::SqliteTransaction,
};
use crate::{
    Begun, Deadline, Error, EventRow, Loaded, OutboxRow, ReactorRow, ReceiptQuery, ReceiptRow,
    Store, Transaction,
};

const READERS: usize = 2;
/// Twice the default: a commit of a hundred receipts writes half as many pages, and takes a sixth
/// less of the processor, than with 4 KiB; larger pages gain nothing more. Applies to new files.
const PAGE_BYTES: i64 = 8192;
const WRITER_CACHE_KIB: i64 = 4096;
const READER_CACHE_KIB: i64 = 1024;
/// The log is cut back to this after it was larger.
const LOG_BYTES_MAX: i64 = 16 << 20;
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const STATEMENTS_CACHED: usize = 64;

/// A store in one SQLite file, in a folder that this process holds for itself.
///
/// Clones share it. When the last clone and the last transaction are dropped, what is queued is
/// finished, the file closed, and the folder given free.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

/// Fields are dropped in this order: the writer closes last and tidies the log away, then the
/// folder is given free.
pub(super) struct Inner {
    readers: Pool,
    pub(super) writer: Pool,
    write_lock: Arc<Mutex<()>>,
    _folder: Folder,
}

impl SqliteStore {
    /// Opens the state in `folder`, which is made if it is missing, and brings it to the layout of
    /// this version. Blocks on the disk for a moment.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let folder = Folder::open(folder)?;
        let path = folder.database.as_path();
        let writer = connect_writer(path)?;
        let readers = (0..READERS).map(|_| connect_reader(path)).collect::<Result<_, _>>()?;
        let start = |name, connections| {
            Pool::start(name, connections)
                .map_err(|source| Error::Io { path: path.to_owned(), source })
        };
        let inner = Inner {
            readers: start("store-reader", readers)?,
            writer: start("store-writer", vec![writer])?,
            write_lock: Arc::default(),
            _folder: folder,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// How many pieces of work were given to the database since it was opened. No statement runs
    /// outside of one, so as long as this stands still, nothing reaches the database.
    pub fn operations(&self) -> u64 {
        self.inner.readers.submitted() + self.inner.writer.submitted()
    }

    /// Lets the file grow to `pages` pages and no further, as a full disk would.
    #[cfg(feature = "test-util")]
    pub async fn limit_pages(&self, pages: u32) -> Result<(), Error> {
        self.write(move |connection| {
            Ok(connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?)
        })
        .await
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.inner.readers.call(read).await
    }

    /// As [`Self::read`], but of one reactor: the default when there is none.
    async fn read_of<T: Default + Send + 'static>(
        &self,
        reactor: &str,
        read: impl FnOnce(&Connection, ReactorId, u64) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let reactor = reactor.to_owned();
        self.read(move |connection| match reactors::id(connection, &reactor)? {
            Some((id, receipts)) => read(connection, id, receipts),
            None => Ok(T::default()),
        })
        .await
    }

    async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&mut Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let lock = Arc::clone(&self.inner.write_lock).lock_owned().await;
        let job = move |connection: &mut Connection| {
            let outcome = write(connection);
            drop(lock);
            outcome
        };
        self.inner.writer.call(job).await
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn create_reactor(&self, name: &str) -> Result<bool, Error> {
        let name = name.to_owned();
        self.write(move |connection| reactors::create(connection, &name)).await
    }

    async fn begin(
        &self,
        reactor: &str,
        known_revision: Option<u64>,
    ) -> Result<Option<Begun>, Error> {
        let lock = Arc::clone(&self.inner.write_lock).lock_owned().await;
        let (inner, reactor) = (Arc::clone(&self.inner), reactor.to_owned());
        let begin = move |connection: &mut Connection| {
            SqliteTransaction::begin(inner, connection, lock, &reactor, known_revision)
        };
        let begun = self.inner.writer.call(begin).await?;
        Ok(begun
            .map(|(transaction, loaded)| (Box::new(transaction) as Box<dyn Transaction>, loaded)))
    }

    async fn reactors(&self) -> Result<Vec<ReactorRow>, Error> {
        self.read(|connection| reactors::all(connection)).await
    }

    async fn reactor(&self, name: &str) -> Result<Option<ReactorRow>, Error> {
        let name = name.to_owned();
        self.read(move |connection| Ok(reactors::find(connection, &name)?.map(|(_, row)| row)))
            .await
    }

    async fn load(&self, reactor: &str) -> Result<Option<Loaded>, Error> {
        let reactor = reactor.to_owned();
        self.read(move |connection| {
            let snapshot = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
            Ok(nodes::load(&snapshot, &reactor, None)?.map(|(_, loaded)| loaded))
        })
        .await
    }

    async fn epoch(&self, reactor: &str, number: u64) -> Result<Option<Vec<u8>>, Error> {
        self.read_of(reactor, move |connection, id, _| epochs::read(connection, id, number)).await
    }

    async fn receipts(&self, reactor: &str, query: ReceiptQuery) -> Result<Vec<ReceiptRow>, Error> {
        self.read_of(reactor, move |connection, id, _| receipts::page(connection, id, &query)).await
    }

    async fn receipt(&self, reactor: &str, address: &Address) -> Result<Option<ReceiptRow>, Error> {
        let address = address.clone();
        self.read_of(reactor, move |connection, id, stored| {
            receipts::find(connection, id, stored, &address)
        })
        .await
    }

    async fn receipts_by_prefix(
        &self,
        reactor: &str,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<ReceiptRow>, Error> {
        let prefix = prefix.to_owned();
        self.read_of(reactor, move |connection, id, stored| {
            receipts::by_prefix(connection, id, stored, &prefix, limit)
        })
        .await
    }

    async fn contents(&self, addresses: &[Address]) -> Result<BTreeMap<Address, Vec<u8>>, Error> {
        let addresses = addresses.to_vec();
        self.read(move |connection| contents::read(connection, &addresses)).await
    }

    async fn events(
        &self,
        reactor: &str,
        node: &str,
        from: u64,
        to: u64,
    ) -> Result<Vec<EventRow>, Error> {
        let node = node.to_owned();
        self.read_of(reactor, move |connection, id, _| {
            events::read(connection, id, &node, from, to)
        })
        .await
    }

    async fn deliveries(
        &self,
        reactor: &str,
        keys: &[String],
    ) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let keys = keys.to_vec();
        self.read_of(reactor, move |connection, id, _| deliveries::read(connection, id, &keys))
            .await
    }

    async fn deadlines(&self, limit: usize) -> Result<Vec<Deadline>, Error> {
        self.read(move |connection| nodes::deadlines(connection, limit)).await
    }

    async fn outbox(&self, limit: usize) -> Result<Vec<OutboxRow>, Error> {
        self.read(move |connection| outbox::read(connection, limit)).await
    }

    async fn settle_outbox(&self, ids: &[i64]) -> Result<(), Error> {
        if ids.is_empty() {
            return Ok(());
        }
        let ids = ids.to_vec();
        self.write(move |connection| outbox::settle(connection, &ids)).await
    }
}

fn connect_writer(path: &Path) -> Result<Connection, Error> {
    let classify = |error| migrations::classify(error, path);
    // Not the default flags: a path is a path, even if it looks like a URI.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(classify)?;
    prepare(&connection, WRITER_CACHE_KIB).map_err(classify)?;
    let pragmas = |connection: &Connection| {
        connection.pragma_update(None, "page_size", PAGE_BYTES)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        // NORMAL may lose the last commits at a power cut.
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update_and_check(
            None,
            "journal_size_limit",
            LOG_BYTES_MAX,
            |_| Ok(()),
        )?;
        connection.pragma_update(None, "foreign_keys", true)
    };
    pragmas(&connection).map_err(classify)?;
    migrations::run(&mut connection, path)?;
    Ok(connection)
}

fn connect_reader(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    prepare(&connection, READER_CACHE_KIB)?;
    Ok(connection)
}

fn prepare(connection: &Connection, cache_kib: i64) -> Result<(), rusqlite::Error> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    // A negative size counts KiB.
    connection.pragma_update(None, "cache_size", -cache_kib)
}
