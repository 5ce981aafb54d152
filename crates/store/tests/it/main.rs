//! The SQLite store, from outside.

mod conformance;
mod folder;
mod full;
mod quiet;
