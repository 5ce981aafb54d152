//! The ledger.

use std::collections::BTreeMap;

use prose_ir::Address;
use rusqlite::{Connection, Row, params};

use super::{
    nodes::{self, NodeId},
    reactors::ReactorId,
    values::{self, count, int},
};
use crate::{Error, NewReceipt, Page, ReceiptQuery, ReceiptRow};

/// How many bits of a receipt's id hold its position; see the schema.
const POSITION_BITS: u32 = 40;
/// Rows of one generation of the index of addresses, as a power of two; see the schema.
const GENERATION_BITS: u32 = 11;
const COLUMNS: &str = "r.id, n.name, r.seq, r.address, r.status, r.bytes";

/// Appends receipts after `stored` ones, and answers how many there are then.
pub(super) fn append(
    connection: &Connection,
    reactor: ReactorId,
    stored: u64,
    receipts: &[NewReceipt],
) -> Result<u64, Error> {
    let sql = "INSERT INTO receipts (id, node, seq, status, address, bytes)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = connection.prepare_cached(sql)?;
    let mut heads: BTreeMap<&str, (NodeId, u64)> = BTreeMap::new();
    let mut newest = stored;
    for receipt in receipts {
        newest = follows("the ledger", newest, receipt.position)?;
        let head = match heads.get_mut(receipt.node.as_str()) {
            Some(head) => head,
            None => {
                let head = nodes::find_or_name(connection, reactor, &receipt.node)?;
                heads.entry(&receipt.node).or_insert(head)
            }
        };
        head.1 = follows(&receipt.node, head.1, receipt.seq)?;
        insert.execute(params![
            row_id(reactor, newest),
            head.0,
            int(receipt.seq),
            receipt.status,
            values::address_bytes(&receipt.address)?,
            receipt.bytes,
        ])?;
    }
    for (node, seq) in heads.into_values() {
        nodes::set_seq(connection, node, seq)?;
    }
    Ok(newest)
}

fn follows(chain: &str, newest: u64, next: u64) -> Result<u64, Error> {
    if newest.checked_add(1) == Some(next) && next >> POSITION_BITS == 0 {
        return Ok(next);
    }
    Err(Error::Conflict { detail: format!("receipt {next} of {chain} does not follow {newest}") })
}

pub(super) fn page(
    connection: &Connection,
    reactor: ReactorId,
    query: &ReceiptQuery,
) -> Result<Vec<ReceiptRow>, Error> {
    let node = match &query.node {
        None => None,
        Some(name) => match nodes::find(connection, reactor, name)? {
            None => return Ok(Vec::new()),
            Some((node, _)) => Some(node),
        },
    };
    let last = (1 << POSITION_BITS) - 1;
    let (low, high, order) = match query.page {
        Page::OldestFirst { after } => (after.saturating_add(1), last, "ASC"),
        Page::NewestFirst { before } => (1, before.map_or(last, |b| b.saturating_sub(1)), "DESC"),
    };
    if low > high.min(last) {
        return Ok(Vec::new());
    }
    // Joins in the order written, and the index named: no plan that could change with statistics.
    let (index, filter) = match node {
        Some(_) => ("INDEXED BY receipts_by_node", "r.node = ?4"),
        None => ("NOT INDEXED", "?4 IS NULL"),
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM receipts AS r {index} CROSS JOIN nodes AS n ON n.id = r.node
         WHERE r.id BETWEEN ?1 AND ?2 AND {filter} ORDER BY r.id {order} LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let bounds = (row_id(reactor, low), row_id(reactor, high.min(last)));
    let rows =
        statement.query_map(params![bounds.0, bounds.1, int(query.limit as u64), node], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn find(
    connection: &Connection,
    reactor: ReactorId,
    stored: u64,
    address: &Address,
) -> Result<Option<ReceiptRow>, Error> {
    Ok(by_prefix(connection, reactor, stored, address.as_str(), 1)?.pop())
}

/// Newest first.
pub(super) fn by_prefix(
    connection: &Connection,
    reactor: ReactorId,
    stored: u64,
    prefix: &str,
    limit: usize,
) -> Result<Vec<ReceiptRow>, Error> {
    let Some((low, high)) = values::prefix_range(prefix) else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM receipts AS r INDEXED BY receipts_by_address
         CROSS JOIN nodes AS n ON n.id = r.node
         WHERE r.id >> {GENERATION_BITS} = ?1 AND substr(r.address, 1, 4) BETWEEN ?2 AND ?3
           AND r.address BETWEEN ?4 AND ?5 ORDER BY r.id DESC LIMIT ?6"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found: Vec<ReceiptRow> = Vec::new();
    let generation = |position| row_id(reactor, position) >> GENERATION_BITS;
    for generation in (generation(0)..=generation(stored)).rev() {
        let left = limit.saturating_sub(found.len());
        if left == 0 {
            break;
        }
        let (from, to) = (values::short(&low), values::short(&high));
        let rows = statement
            .query_map(params![generation, from, to, low, high, int(left as u64)], read)?;
        for row in rows {
            found.push(row?);
        }
    }
    Ok(found)
}

fn row_id(reactor: ReactorId, position: u64) -> i64 {
    reactor << POSITION_BITS | int(position)
}

fn read(row: &Row<'_>) -> rusqlite::Result<ReceiptRow> {
    let id: i64 = row.get(0)?;
    Ok(ReceiptRow {
        position: count(id & ((1 << POSITION_BITS) - 1)),
        node: row.get(1)?,
        seq: count(row.get(2)?),
        address: values::address_of(row.get(3)?),
        status: row.get(4)?,
        bytes: row.get(5)?,
    })
}
