//! Which keys there are, and finding one that there is not.

use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::error::{Error, place};

/// The keys below a key.
enum Keys {
    /// A value.
    Value,
    /// A table with these keys.
    Table(&'static [(&'static str, Keys)]),
    /// A table of names that the operator chooses, each a table with these keys.
    Named(&'static [(&'static str, Keys)]),
}

use Keys::{Named, Table, Value};

const ROOT: &[(&str, Keys)] = &[
    ("reactor", Value),
    ("source", Value),
    (
        "run",
        Table(&[
            ("concurrency", Value),
            ("lease", Value),
            ("attempts", Value),
            ("backoff", Value),
            ("backoff_max", Value),
            ("patience", Value),
        ]),
    ),
    (
        "limits",
        Table(&[
            ("deadline", Value),
            ("grace", Value),
            ("output_bytes", Value),
            ("published_files", Value),
            ("published_bytes", Value),
        ]),
    ),
    ("listen", Table(&[("tcp", Value)])),
    ("sign", Table(&[("enabled", Value)])),
    ("harness", Named(&[("kind", Value), ("program", Value), ("args", Value), ("model", Value)])),
    ("defaults", Table(&[("harness", Value)])),
    ("nodes", Named(&[("harness", Value), ("jq", Value)])),
];

/// How alike two names must be to take one for the other, from 0 to 1.
const ALIKE: f64 = 0.6;

/// Finds the first unknown key. Text that is no TOML is left to the reader of values.
pub(super) fn check(path: &Path, text: &str) -> Result<(), Error> {
    let Ok(table) = DeTable::parse(text) else { return Ok(()) };
    unknown(table.get_ref(), ROOT, "").map_or(Ok(()), |found| {
        Err(Error::UnknownKey {
            place: place(path, text, found.offset),
            key: format!("{}{}", found.prefix, found.name),
            nearest: nearest(&found.name, found.known).map(|k| format!("{}{k}", found.prefix)),
            known: found.known.iter().map(|(key, _)| format!("`{key}`")).collect(),
        })
    })
}

struct Unknown {
    offset: usize,
    prefix: String,
    name: String,
    known: &'static [(&'static str, Keys)],
}

fn unknown(
    table: &DeTable<'_>,
    known: &'static [(&'static str, Keys)],
    prefix: &str,
) -> Option<Unknown> {
    table.iter().find_map(|(key, value)| {
        let name = key.get_ref().as_ref();
        let Some((_, below)) = known.iter().find(|(known, _)| *known == name) else {
            let offset = key.span().start;
            return Some(Unknown { offset, prefix: prefix.into(), name: name.into(), known });
        };
        let DeValue::Table(table) = value.get_ref() else { return None };
        match below {
            Value => None,
            Table(known) => unknown(table, known, &format!("{prefix}{name}.")),
            Named(known) => table.iter().find_map(|(chosen, value)| {
                let prefix = format!("{prefix}{name}.{}.", chosen.get_ref());
                value.get_ref().as_table().and_then(|table| unknown(table, known, &prefix))
            }),
        }
    })
}

fn nearest(name: &str, known: &[(&'static str, Keys)]) -> Option<&'static str> {
    crate::nearest::nearest(name, known.iter().map(|(key, _)| *key), ALIKE)
}

/// Every key that holds a value.
#[cfg(test)]
pub(super) fn all() -> Vec<String> {
    fn below(keys: &[(&str, Keys)], prefix: &str, all: &mut Vec<String>) {
        for (key, what) in keys {
            match what {
                Value => all.push(format!("{prefix}{key}")),
                Table(keys) | Named(keys) => below(keys, &format!("{prefix}{key}."), all),
            }
        }
    }
    let mut keys = Vec::new();
    below(ROOT, "", &mut keys);
    keys
}
