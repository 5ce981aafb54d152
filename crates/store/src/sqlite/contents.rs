//! Trees and blobs by address.

use std::collections::BTreeMap;

use prose_ir::Address;
use rusqlite::{Connection, OptionalExtension, params};

use super::values;
use crate::{Content, Error};

/// Rows of one generation of the index of addresses, as a power of two; see the schema.
const GENERATION_BITS: u32 = 12;
/// From this size on it pays to look through all generations before storing bytes again.
const LARGE: usize = 4096;

/// Stores what is not there. Small bytes are looked for in the two newest generations only: a
/// second copy now and then is cheaper than a search that grows with the table.
pub(super) fn write(connection: &Connection, contents: &[Content]) -> Result<(), Error> {
    if contents.is_empty() {
        return Ok(());
    }
    let mut insert =
        connection.prepare_cached("INSERT INTO contents (address, bytes) VALUES (?1, ?2)")?;
    let mut newest = newest_generation(connection)?;
    for Content { address, bytes } in contents {
        let address = values::address_bytes(address)?;
        let depth = if bytes.len() >= LARGE { i64::MAX } else { 2 };
        if locate(connection, &address, newest, depth, None)?.is_none() {
            insert.execute(params![address, bytes])?;
            newest = connection.last_insert_rowid() >> GENERATION_BITS;
        }
    }
    Ok(())
}

pub(super) fn read(
    connection: &Connection,
    addresses: &[Address],
) -> Result<BTreeMap<Address, Vec<u8>>, Error> {
    let mut found = BTreeMap::new();
    let mut get = connection.prepare_cached("SELECT bytes FROM contents WHERE id = ?1")?;
    let newest = newest_generation(connection)?;
    // What belongs together was stored together.
    let mut near = None;
    for address in addresses {
        if found.contains_key(address) {
            continue;
        }
        let key = values::address_bytes(address)?;
        if let Some(id) = locate(connection, &key, newest, i64::MAX, near)? {
            near = Some(id >> GENERATION_BITS);
            found.insert(address.clone(), get.query_row([id], |row| row.get(0))?);
        }
    }
    Ok(found)
}

/// Searches `depth` generations from the newest back, `near` before all others.
fn locate(
    connection: &Connection,
    address: &[u8; 32],
    newest: i64,
    depth: i64,
    near: Option<i64>,
) -> Result<Option<i64>, Error> {
    let sql = format!(
        "SELECT id FROM contents INDEXED BY contents_by_address
         WHERE id >> {GENERATION_BITS} = ?1 AND substr(address, 1, 4) = ?2 AND address = ?3 LIMIT 1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let oldest = newest.saturating_sub(depth.saturating_sub(1)).max(0);
    for generation in near.into_iter().chain((oldest..=newest).rev()) {
        let id = statement
            .query_row(params![generation, values::short(address), address], |row| row.get(0))
            .optional()?;
        if id.is_some() {
            return Ok(id);
        }
    }
    Ok(None)
}

fn newest_generation(connection: &Connection) -> Result<i64, Error> {
    let sql = "SELECT coalesce(max(id), 0) FROM contents";
    let newest: i64 = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(newest >> GENERATION_BITS)
}
