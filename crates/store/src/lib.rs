//! Durable state: the [`Store`] trait, what it holds, and its SQLite implementation.
//!
//! A store keeps rows and opaque bytes. It knows that receipts form one chain per node and that
//! every operation on a reactor is alone; it does not know what a receipt says, and it decides
//! nothing. No SQL statement exists outside this crate.

mod changes;
#[cfg(feature = "test-util")]
pub mod conformance;
mod error;
mod rows;
mod sqlite;
mod store;

pub use changes::{
    Changes, Content, NewDelivery, NewEpoch, NewReceipt, OutboxMessage, ReactorUpdate,
};
pub use error::Error;
pub use rows::{
    Deadline, EventRow, Loaded, NodeRow, OutboxRow, Page, ReactorRow, ReceiptQuery, ReceiptRow,
};
pub use sqlite::SqliteStore;
pub use store::{Begun, Store, Transaction};
