//! Messages that the bus has not acknowledged.

use rusqlite::{Connection, params};

use super::values::int;
use crate::{Error, OutboxMessage, OutboxRow};

pub(super) fn read(connection: &Connection, limit: usize) -> Result<Vec<OutboxRow>, Error> {
    let sql = "SELECT id, message_id, subject, payload FROM outbox ORDER BY id LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([int(limit as u64)], |row| {
        let message = OutboxMessage { id: row.get(1)?, subject: row.get(2)?, payload: row.get(3)? };
        Ok(OutboxRow { id: row.get(0)?, message })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn write(connection: &Connection, messages: &[OutboxMessage]) -> Result<(), Error> {
    let sql = "INSERT INTO outbox (message_id, subject, payload) VALUES (?1, ?2, ?3)";
    let mut statement = connection.prepare_cached(sql)?;
    for OutboxMessage { id, subject, payload } in messages {
        statement.execute(params![id, subject, payload])?;
    }
    Ok(())
}

/// Deletes rows without waiting for the disk: the next full commit carries them along, and until
/// then a power cut only means that a message is published again.
pub(super) fn settle(connection: &mut Connection, ids: &[i64]) -> Result<(), Error> {
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let outcome = delete(connection, ids);
    connection.pragma_update(None, "synchronous", "FULL")?;
    outcome
}

fn delete(connection: &mut Connection, ids: &[i64]) -> Result<(), Error> {
    let transaction = connection.transaction()?;
    {
        let mut statement = transaction.prepare_cached("DELETE FROM outbox WHERE id = ?1")?;
        for id in ids {
            statement.execute([id])?;
        }
    }
    Ok(transaction.commit()?)
}
