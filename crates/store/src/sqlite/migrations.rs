//! Bringing the file to the layout of this version, or refusing it.

use std::path::Path;

use rusqlite::Connection;

use super::failure;
use crate::Error;

mod embedded {
    refinery::embed_migrations!("migrations/sqlite");
}

const APPLICATION_ID: i64 = 1_347_571_539;

/// Applies what is missing, all in one transaction.
pub(super) fn run(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    let classify = |error| classify(error, path);
    let runner = embedded::migrations::runner().set_grouped(true);
    let known = runner.get_migrations().iter().map(|m| i64::from(m.version())).max().unwrap_or(0);
    match found(connection).map_err(classify)? {
        Found::Foreign => {
            let source = "it is a database of another program".into();
            return Err(Error::Unreadable { path: path.to_owned(), source });
        }
        Found::Version(found) if found > known => return Err(Error::Newer { found, known }),
        Found::Version(found) if found == known => return Ok(()),
        Found::Version(_) => {}
    }
    match runner.run(connection) {
        Ok(_) => Ok(()),
        Err(error) => match error.kind() {
            refinery::error::Kind::Connection(_, source) => {
                match source.downcast_ref::<rusqlite::Error>() {
                    Some(rusqlite::Error::SqliteFailure(failure, message)) => {
                        Err(classify(rusqlite::Error::SqliteFailure(*failure, message.clone())))
                    }
                    _ => Err(Error::Failed { source: error.into() }),
                }
            }
            _ => Err(Error::Unreadable { path: path.to_owned(), source: error.into() }),
        },
    }
}

/// As the general conversion, but the first touch of a file may find that it is no database.
pub(super) fn classify(error: rusqlite::Error, path: &Path) -> Error {
    if failure::is_unreadable(&error) {
        Error::Unreadable { path: path.to_owned(), source: error.into() }
    } else {
        error.into()
    }
}

enum Found {
    /// Ours, with the version of its layout; 0 for an empty file.
    Version(i64),
    /// Somebody else's.
    Foreign,
}

fn found(connection: &Connection) -> Result<Found, rusqlite::Error> {
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'";
    // refinery makes its own table before the transaction that holds the rest.
    let history = count(&format!("{tables} AND name = 'refinery_schema_history'"))?;
    let all = count(tables)?;
    let application: i64 = connection.pragma_query_value(None, "application_id", |r| r.get(0))?;
    if all > history && application != APPLICATION_ID {
        return Ok(Found::Foreign);
    }
    Ok(Found::Version(match history {
        0 => 0,
        _ => count("SELECT coalesce(max(version), 0) FROM refinery_schema_history")?,
    }))
}
