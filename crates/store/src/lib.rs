//! Durable state: the Store trait and its SQLite implementation.
