//! The traits that every store implements.

use std::collections::BTreeMap;

use async_trait::async_trait;
use prose_ir::Address;

use crate::{
    Changes, Deadline, Error, EventRow, Loaded, NodeRow, OutboxRow, ReactorRow, ReceiptQuery,
    ReceiptRow,
};

/// An open transaction and what was read when it began.
pub type Begun = (Box<dyn Transaction>, Loaded);

/// The durable state of any number of reactors.
///
/// Every future may be dropped at any await. A dropped read has no effect; of a dropped write
/// either everything happened or nothing did.
///
/// Reads outside a transaction see what was committed before they began, and never wait for a
/// transaction.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Creates a reactor; `false` when one of this name exists.
    async fn create_reactor(&self, name: &str) -> Result<bool, Error>;

    /// Takes the lock of a reactor, waiting for whoever holds it, and reads its row and every node
    /// written after `known_revision`. `None` when there is no such reactor.
    ///
    /// Two transactions on one reactor never overlap. An implementation may lock more than the
    /// one reactor, so nobody may hold a transaction while asking for a second one.
    async fn begin(
        &self,
        reactor: &str,
        known_revision: Option<u64>,
    ) -> Result<Option<Begun>, Error>;

    /// All reactors, by name.
    async fn reactors(&self) -> Result<Vec<ReactorRow>, Error>;

    /// One reactor.
    async fn reactor(&self, name: &str) -> Result<Option<ReactorRow>, Error>;

    /// A reactor's nodes, by name, and its row, of one moment. `None` when there is no such reactor.
    async fn load(&self, reactor: &str) -> Result<Option<Loaded>, Error>;

    /// A reactor's nodes, by name.
    async fn nodes(&self, reactor: &str) -> Result<Vec<NodeRow>, Error> {
        Ok(self.load(reactor).await?.map_or_else(Vec::new, |loaded| loaded.nodes))
    }

    /// The bundle of an epoch.
    async fn epoch(&self, reactor: &str, number: u64) -> Result<Option<Vec<u8>>, Error>;

    /// A page of a ledger; empty for an unknown reactor or node.
    async fn receipts(&self, reactor: &str, query: ReceiptQuery) -> Result<Vec<ReceiptRow>, Error>;

    /// The receipt at an address.
    async fn receipt(&self, reactor: &str, address: &Address) -> Result<Option<ReceiptRow>, Error>;

    /// The receipts whose address starts with `prefix` (hexadecimal digits, `blake3:` may stand
    /// before them), at most `limit`, newest first. Ask for two to learn whether it is unique.
    /// Anything that is not such a prefix, or has no digits, finds nothing.
    async fn receipts_by_prefix(
        &self,
        reactor: &str,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<ReceiptRow>, Error>;

    /// Trees and blobs; an address that is not stored is missing in the answer.
    async fn contents(&self, addresses: &[Address]) -> Result<BTreeMap<Address, Vec<u8>>, Error>;

    /// A gateway's stored events with `from <= ordinal < to`, in order.
    async fn events(
        &self,
        reactor: &str,
        node: &str,
        from: u64,
        to: u64,
    ) -> Result<Vec<EventRow>, Error>;

    /// The outcomes of those idempotency keys that are stored.
    async fn deliveries(
        &self,
        reactor: &str,
        keys: &[String],
    ) -> Result<BTreeMap<String, Vec<u8>>, Error>;

    /// The soonest deadlines over all reactors, at most `limit`, soonest first.
    async fn deadlines(&self, limit: usize) -> Result<Vec<Deadline>, Error>;

    /// The oldest messages that are not settled, at most `limit`, in order of commit.
    async fn outbox(&self, limit: usize) -> Result<Vec<OutboxRow>, Error>;

    /// Forgets messages that the bus has acknowledged. Not necessarily durable by itself: after a
    /// power cut a settled message may be there again, so publishing must bear repetition.
    async fn settle_outbox(&self, ids: &[i64]) -> Result<(), Error>;
}

/// The lock of one reactor, with reads and the one write under it.
///
/// Dropping a transaction writes nothing and gives the lock back.
#[async_trait]
pub trait Transaction: Send {
    /// The outcomes of those idempotency keys that are stored.
    async fn deliveries(&mut self, keys: &[String]) -> Result<BTreeMap<String, Vec<u8>>, Error>;

    /// The bundle of an epoch.
    async fn epoch(&mut self, number: u64) -> Result<Option<Vec<u8>>, Error>;

    /// Trees and blobs; an address that is not stored is missing in the answer.
    async fn contents(
        &mut self,
        addresses: &[Address],
    ) -> Result<BTreeMap<Address, Vec<u8>>, Error>;

    /// A gateway's stored events with `from <= ordinal < to`, in order.
    async fn events(&mut self, node: &str, from: u64, to: u64) -> Result<Vec<EventRow>, Error>;

    /// The receipt at an address.
    async fn receipt(&mut self, address: &Address) -> Result<Option<ReceiptRow>, Error>;

    /// Writes everything durably, gives the lock back, and answers the new revision. After an
    /// error nothing is written and the lock is free; where the error is an outage
    /// ([`Error::Unavailable`], [`Error::Closed`]) the outcome is not known.
    async fn commit(self: Box<Self>, changes: Changes) -> Result<u64, Error>;
}
