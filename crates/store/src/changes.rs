//! What a transaction writes.

use prose_ir::Address;

use crate::{EventRow, NodeRow};

/// Everything one operation writes, committed as a whole or not at all.
///
/// `Changes::default()` writes nothing; committing it still counts a revision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The reactor's own row; `None` leaves it as it is (its revision rises all the same).
    pub reactor: Option<ReactorUpdate>,
    /// Nodes to create or overwrite.
    pub nodes: Vec<NodeRow>,
    /// Nodes to remove. Their receipts and events stay readable.
    pub removed_nodes: Vec<String>,
    /// Receipts to append, in order. Position and `seq` must continue what is stored without a
    /// gap, otherwise the commit is refused with [`crate::Error::Conflict`].
    pub receipts: Vec<NewReceipt>,
    /// Trees and blobs. Storing an address again changes nothing.
    pub contents: Vec<Content>,
    /// Idempotency keys with their outcomes. A key that is stored already is a conflict: read
    /// [`crate::Transaction::deliveries`] under the same lock first.
    pub deliveries: Vec<NewDelivery>,
    /// External events of gateways that render.
    pub events: Vec<EventRow>,
    /// A newly mounted epoch.
    pub epoch: Option<NewEpoch>,
    /// Messages for the bus, in the order in which they are to be published.
    pub outbox: Vec<OutboxMessage>,
}

/// The reactor's columns that the engine writes; the store counts revision and receipts itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReactorUpdate {
    /// The last wave that was given out.
    pub wave: u64,
    /// The active epoch.
    pub epoch: u64,
    /// The head of the ledger, opaque.
    pub head: Vec<u8>,
    /// Anything else, opaque.
    pub state: Vec<u8>,
}

/// A receipt to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReceipt {
    /// The position after the newest stored one.
    pub position: u64,
    /// The node whose chain grows.
    pub node: String,
    /// The number after the newest in this node's chain.
    pub seq: u64,
    /// The receipt's address.
    pub address: Address,
    /// The status, for queries and lists.
    pub status: String,
    /// The canonical bytes, signature included.
    pub bytes: Vec<u8>,
}

/// A tree or a blob under its address. The store trusts the address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The address of the bytes.
    pub address: Address,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// An idempotency key and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// The key, unique in the reactor.
    pub key: String,
    /// What a repetition is answered with, opaque.
    pub outcome: Vec<u8>,
}

/// A newly mounted epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEpoch {
    /// Its number, unique in the reactor.
    pub number: u64,
    /// The manifest with its artifacts, opaque.
    pub bundle: Vec<u8>,
}

/// A message for the bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxMessage {
    /// The message id by which the bus recognises a repetition.
    pub id: String,
    /// The subject.
    pub subject: String,
    /// The payload, opaque.
    pub payload: Vec<u8>,
}
