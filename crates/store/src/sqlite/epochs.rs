//! Mounted manifests.

use rusqlite::{Connection, OptionalExtension, params};

use super::{reactors::ReactorId, values::int};
use crate::{Error, NewEpoch};

pub(super) fn read(
    connection: &Connection,
    reactor: ReactorId,
    number: u64,
) -> Result<Option<Vec<u8>>, Error> {
    let sql = "SELECT bundle FROM epochs WHERE reactor = ?1 AND number = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row(params![reactor, int(number)], |row| row.get(0)).optional()?)
}

pub(super) fn write(
    connection: &Connection,
    reactor: ReactorId,
    NewEpoch { number, bundle }: &NewEpoch,
) -> Result<(), Error> {
    let sql = "INSERT INTO epochs (reactor, number, bundle) VALUES (?1, ?2, ?3)";
    connection.prepare_cached(sql)?.execute(params![reactor, int(*number), bundle])?;
    Ok(())
}
