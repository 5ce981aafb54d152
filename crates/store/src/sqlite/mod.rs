//! The store in one SQLite file.
//!
//! One connection writes, on a thread of its own; two more read on theirs. Whoever holds the
//! writing lock may use the writer, so a transaction on any reactor keeps every other writer out.
//! Nothing runs unless somebody asked for it.

mod contents;
mod deliveries;
mod epochs;
mod events;
mod failure;
mod folder;
mod migrations;
mod nodes;
mod outbox;
mod pool;
mod reactors;
mod receipts;
mod store;
mod transaction;
mod values;

pub use store::SqliteStore;
