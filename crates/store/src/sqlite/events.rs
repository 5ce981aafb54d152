//! External events of gateways that render.

use rusqlite::{Connection, params};

use super::{
    nodes,
    reactors::ReactorId,
    values::{count, int},
};
use crate::{Error, EventRow};

pub(super) fn read(
    connection: &Connection,
    reactor: ReactorId,
    node: &str,
    from: u64,
    to: u64,
) -> Result<Vec<EventRow>, Error> {
    let Some((id, _)) = nodes::find(connection, reactor, node)? else {
        return Ok(Vec::new());
    };
    let sql = "SELECT ordinal, key, bytes FROM events
               WHERE node = ?1 AND ordinal >= ?2 AND ordinal < ?3 ORDER BY ordinal";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![id, int(from), int(to)], |row| {
        Ok(EventRow {
            node: node.to_owned(),
            ordinal: count(row.get(0)?),
            key: row.get(1)?,
            bytes: row.get(2)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn write(
    connection: &Connection,
    reactor: ReactorId,
    events: &[EventRow],
) -> Result<(), Error> {
    let sql = "INSERT INTO events (node, ordinal, key, bytes) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = connection.prepare_cached(sql)?;
    for EventRow { node, ordinal, key, bytes } in events {
        let (node, _) = nodes::find_or_name(connection, reactor, node)?;
        statement.execute(params![node, int(*ordinal), key, bytes])?;
    }
    Ok(())
}
