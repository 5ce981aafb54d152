//! The table of reactors.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::values::{count, int};
use crate::{Error, ReactorRow, ReactorUpdate};

const COLUMNS: &str = "id, name, revision, wave, epoch, receipts, head, state";

/// A reactor's id in this file.
pub(super) type ReactorId = i64;

pub(super) fn create(connection: &Connection, name: &str) -> Result<bool, Error> {
    let sql = "INSERT INTO reactors (name, revision, wave, epoch, receipts, head, state)
               VALUES (?1, 0, 0, 0, 0, x'', x'') ON CONFLICT (name) DO NOTHING";
    Ok(connection.prepare_cached(sql)?.execute([name])? == 1)
}

pub(super) fn all(connection: &Connection) -> Result<Vec<ReactorRow>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM reactors ORDER BY name");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([], read)?.map(|row| Ok(row?.1));
    rows.collect()
}

pub(super) fn find(
    connection: &Connection,
    name: &str,
) -> Result<Option<(ReactorId, ReactorRow)>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM reactors WHERE name = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([name], read).optional()?)
}

/// The id alone, and how many receipts there are.
pub(super) fn id(connection: &Connection, name: &str) -> Result<Option<(ReactorId, u64)>, Error> {
    let sql = "SELECT id, receipts FROM reactors WHERE name = ?1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, count(row.get(1)?)));
    Ok(connection.prepare_cached(sql)?.query_row([name], read).optional()?)
}

pub(super) fn advance(
    connection: &Connection,
    reactor: ReactorId,
    receipts: u64,
    update: Option<&ReactorUpdate>,
) -> Result<u64, Error> {
    let revision: i64 = match update {
        None => connection
            .prepare_cached(
                "UPDATE reactors SET revision = revision + 1, receipts = ?2
                 WHERE id = ?1 RETURNING revision",
            )?
            .query_row(params![reactor, int(receipts)], |row| row.get(0))?,
        Some(ReactorUpdate { wave, epoch, head, state }) => connection
            .prepare_cached(
                "UPDATE reactors SET revision = revision + 1, receipts = ?2,
                     wave = ?3, epoch = ?4, head = ?5, state = ?6
                 WHERE id = ?1 RETURNING revision",
            )?
            .query_row(
                params![reactor, int(receipts), int(*wave), int(*epoch), head, state],
                |row| row.get(0),
            )?,
    };
    Ok(count(revision))
}

fn read(row: &Row<'_>) -> rusqlite::Result<(ReactorId, ReactorRow)> {
    let reactor = ReactorRow {
        name: row.get(1)?,
        revision: count(row.get(2)?),
        wave: count(row.get(3)?),
        epoch: count(row.get(4)?),
        receipts: count(row.get(5)?),
        head: row.get(6)?,
        state: row.get(7)?,
    };
    Ok((row.get(0)?, reactor))
}
