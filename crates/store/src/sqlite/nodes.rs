//! The table of nodes.

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    reactors::{self, ReactorId},
    values::{count, int},
};
use crate::{Deadline, Error, Loaded, NodeRow};

/// A node's id in this file.
pub(super) type NodeId = i64;

/// The reactor's row and the nodes written after `known`. Consistent only in a transaction.
pub(super) fn load(
    connection: &Connection,
    reactor: &str,
    known: Option<u64>,
) -> Result<Option<(ReactorId, Loaded)>, Error> {
    let Some((id, reactor)) = reactors::find(connection, reactor)? else {
        return Ok(None);
    };
    let mut loaded = Loaded { reactor, nodes: Vec::new(), removed: Vec::new() };
    if known == Some(loaded.reactor.revision) {
        return Ok(Some((id, loaded)));
    }
    // A cache that lags behind is rare here, where one process holds the file: no index serves it.
    let sql = "SELECT name, state, deadline FROM nodes
               WHERE reactor = ?1 AND revision > ?2 ORDER BY name";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![id, known.map_or(-1, int)])?;
    while let Some(row) = rows.next()? {
        let node = row.get(0)?;
        match (row.get(1)?, known) {
            (Some(state), _) => {
                loaded.nodes.push(NodeRow { node, state, deadline: row.get(2)? });
            }
            (None, Some(_)) => loaded.removed.push(node),
            (None, None) => {}
        }
    }
    Ok(Some((id, loaded)))
}

pub(super) fn write(
    connection: &Connection,
    reactor: ReactorId,
    revision: u64,
    nodes: &[NodeRow],
    removed: &[String],
) -> Result<(), Error> {
    let sql = "INSERT INTO nodes (reactor, name, revision, seq, deadline, state)
               VALUES (?1, ?2, ?3, 0, ?4, ?5)
               ON CONFLICT (reactor, name) DO UPDATE SET revision = ?3, deadline = ?4, state = ?5";
    let mut statement = connection.prepare_cached(sql)?;
    for NodeRow { node, state, deadline } in nodes {
        statement.execute(params![reactor, node, int(revision), deadline, state])?;
    }
    let sql = "UPDATE nodes SET revision = ?3, deadline = NULL, state = NULL
               WHERE reactor = ?1 AND name = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    for node in removed {
        statement.execute(params![reactor, node, int(revision)])?;
    }
    Ok(())
}

/// A node's id and the number of its newest receipt.
pub(super) fn find(
    connection: &Connection,
    reactor: ReactorId,
    node: &str,
) -> Result<Option<(NodeId, u64)>, Error> {
    let sql = "SELECT id, seq FROM nodes WHERE reactor = ?1 AND name = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, count(row.get(1)?)));
    Ok(statement.query_row(params![reactor, node], read).optional()?)
}

/// As [`find`], but makes a name without state where there is none.
pub(super) fn find_or_name(
    connection: &Connection,
    reactor: ReactorId,
    node: &str,
) -> Result<(NodeId, u64), Error> {
    if let Some(found) = find(connection, reactor, node)? {
        return Ok(found);
    }
    let sql = "INSERT INTO nodes (reactor, name, revision, seq) VALUES (?1, ?2, 0, 0)";
    connection.prepare_cached(sql)?.execute(params![reactor, node])?;
    Ok((connection.last_insert_rowid(), 0))
}

pub(super) fn set_seq(connection: &Connection, node: NodeId, seq: u64) -> Result<(), Error> {
    let sql = "UPDATE nodes SET seq = ?2 WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![node, int(seq)])?;
    Ok(())
}

pub(super) fn deadlines(connection: &Connection, limit: usize) -> Result<Vec<Deadline>, Error> {
    let sql = "SELECT r.name, n.name, n.deadline
               FROM nodes AS n INDEXED BY nodes_by_deadline
               CROSS JOIN reactors AS r ON r.id = n.reactor
               WHERE n.deadline IS NOT NULL ORDER BY n.deadline, n.id LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([int(limit as u64)], |row| {
        Ok(Deadline { reactor: row.get(0)?, node: row.get(1)?, at: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
