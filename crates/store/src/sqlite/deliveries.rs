//! Idempotency keys and their outcomes.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::reactors::ReactorId;
use crate::{Error, NewDelivery};

/// Keys up to this length are stored as they are.
const PLAIN_MAX: usize = 128;
/// So much of a longer key is kept, before its hash, for the sake of its order.
const KEPT: usize = 64;

pub(super) fn read(
    connection: &Connection,
    reactor: ReactorId,
    keys: &[String],
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let sql = "SELECT outcome FROM deliveries WHERE reactor = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = BTreeMap::new();
    for key in keys {
        let outcome =
            statement.query_row(params![reactor, stored_key(key)], |row| row.get(0)).optional()?;
        if let Some(outcome) = outcome {
            found.insert(key.clone(), outcome);
        }
    }
    Ok(found)
}

pub(super) fn write(
    connection: &Connection,
    reactor: ReactorId,
    deliveries: &[NewDelivery],
) -> Result<(), Error> {
    let sql = "INSERT INTO deliveries (reactor, key, outcome) VALUES (?1, ?2, ?3)";
    let mut statement = connection.prepare_cached(sql)?;
    for NewDelivery { key, outcome } in deliveries {
        statement.execute(params![reactor, stored_key(key), outcome])?;
    }
    Ok(())
}

/// A tag and the key, or what stands for a long one. The tag keeps the two kinds apart.
fn stored_key(key: &str) -> Vec<u8> {
    let key = key.as_bytes();
    if key.len() <= PLAIN_MAX {
        return [&[0], key].concat();
    }
    [&[1], &key[..KEPT], blake3::hash(key).as_bytes().as_slice()].concat()
}
