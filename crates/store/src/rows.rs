//! What a store hands out.

use prose_ir::Address;

/// One reactor, as last committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReactorRow {
    /// Its name, unique in the store.
    pub name: String,
    /// Rises by one with each commit; what a cache is validated by. 0 after creation.
    pub revision: u64,
    /// The last wave that was given out.
    pub wave: u64,
    /// The active epoch, 0 when none is mounted.
    pub epoch: u64,
    /// How many receipts its ledger holds, which is also the position of the newest one.
    pub receipts: u64,
    /// The head of its ledger, opaque; empty after creation.
    pub head: Vec<u8>,
    /// Anything else the engine keeps per reactor, opaque; empty after creation.
    pub state: Vec<u8>,
}

/// One node's mutable state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRow {
    /// The node's name, unique in its reactor.
    pub node: String,
    /// The state, opaque.
    pub state: Vec<u8>,
    /// When the clock must look at this node, in milliseconds since 1970; `None` for never.
    pub deadline: Option<i64>,
}

/// What [`crate::Store::begin`] read under the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The reactor's row.
    pub reactor: ReactorRow,
    /// The nodes written after the revision the caller knew, by name; all of them when it knew none.
    pub nodes: Vec<NodeRow>,
    /// Names of nodes removed after the revision the caller knew. May name nodes that the caller
    /// never saw; always empty when it knew no revision.
    pub removed: Vec<String>,
}

/// One stored receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptRow {
    /// Its place in the reactor's ledger: 1, 2, 3, ...
    pub position: u64,
    /// The node whose chain it belongs to.
    pub node: String,
    /// Its place in the node's chain: 1, 2, 3, ...
    pub seq: u64,
    /// The address the engine computed for it.
    pub address: Address,
    /// The status, for queries and lists.
    pub status: String,
    /// The bytes, exactly as they were given to the store.
    pub bytes: Vec<u8>,
}

/// Which part of a ledger to read, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// From the oldest on: positions greater than `after`, rising. Start with 0.
    OldestFirst {
        /// The last position that was already read.
        after: u64,
    },
    /// From the newest back: positions less than `before`, falling. Start with `None`.
    NewestFirst {
        /// The smallest position that was already read.
        before: Option<u64>,
    },
}

/// A bounded read of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptQuery {
    /// Only this node's receipts; `None` for the whole reactor.
    pub node: Option<String>,
    /// Where to start and in which direction to go.
    pub page: Page,
    /// At most this many rows.
    pub limit: usize,
}

/// An external event that a rendering gateway has still to read, or has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// The gateway it arrived at.
    pub node: String,
    /// Its place among the node's events; the engine counts.
    pub ordinal: u64,
    /// Its idempotency key.
    pub key: String,
    /// The event itself, opaque.
    pub bytes: Vec<u8>,
}

/// A message that the bus has not acknowledged yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// Names the row for [`crate::Store::settle_outbox`]; rises in the order of commits.
    pub id: i64,
    /// The message.
    pub message: crate::OutboxMessage,
}

/// A node that the clock must look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadline {
    /// The node's reactor.
    pub reactor: String,
    /// The node.
    pub node: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
}
