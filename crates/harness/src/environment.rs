//! The environment that reaches a session, and keeping its secrets out of what we report.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// Names every session gets, when the host has them. `TMPDIR` is set to `workspace/`.
pub const BASE: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];
/// Tells a session where its task folder is.
pub const TASK_VAR: &str = "PROSE_TASK";
/// Marks all processes of one session, so that none outlives it.
pub const SESSION_VAR: &str = "PROSE_SESSION";
/// Where a session keeps temporary files.
pub const TMPDIR_VAR: &str = "TMPDIR";
/// Shorter values are too common in ordinary text to be blotted out.
const SECRET_BYTES_MIN: usize = 4;

/// What reaches a session: the base names and those its contract lists.
///
/// `Debug` shows names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    base: BTreeMap<String, OsString>,
    listed: BTreeMap<String, OsString>,
    missing: Vec<String>,
}

impl Environment {
    /// Chooses from the host's variables what a contract that lists `listed` may see.
    #[must_use]
    pub fn select<I, K, V>(host: I, listed: &[String]) -> Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: Into<OsString>,
    {
        let mut chosen = Self::default();
        for (name, value) in host {
            let Some(name) = name.as_ref().to_str() else { continue };
            if BASE.contains(&name) {
                chosen.base.insert(name.to_owned(), value.into());
            } else if !is_ours(name) && listed.iter().any(|wanted| wanted == name) {
                chosen.listed.insert(name.to_owned(), value.into());
            }
        }
        chosen.missing = listed.iter().filter(|name| !chosen.has(name)).cloned().collect();
        chosen
    }

    /// Listed names for which the host has no value, in the order of the list.
    #[must_use]
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// The search path for programs.
    pub(crate) fn path(&self) -> Option<&OsStr> {
        self.base.get("PATH").map(OsString::as_os_str)
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = (&String, &OsString)> {
        self.base.iter().chain(&self.listed)
    }

    pub(crate) fn redactor(&self) -> Redactor {
        let mut secrets: Vec<_> = self
            .listed
            .iter()
            .map(|(name, value)| (format!("[{name}]"), value.as_encoded_bytes().to_vec()))
            .filter(|(_, value)| value.len() >= SECRET_BYTES_MIN)
            .collect();
        // The longest first: one value may contain another.
        secrets.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        Redactor { secrets }
    }

    fn has(&self, name: &str) -> bool {
        is_ours(name) || self.base.contains_key(name) || self.listed.contains_key(name)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("names", &self.variables().map(|(name, _)| name).collect::<Vec<_>>())
            .field("missing", &self.missing)
            .finish()
    }
}

fn is_ours(name: &str) -> bool {
    [TASK_VAR, SESSION_VAR, TMPDIR_VAR].contains(&name)
}

/// Replaces the values of listed variables by their names.
///
/// It finds values as they are; a session that prints one encoded or in pieces is not caught.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    secrets: Vec<(String, Vec<u8>)>,
}

impl Redactor {
    /// How much more than a tail has to be kept so that no cut leaves part of a value in it.
    pub(crate) fn longest(&self) -> usize {
        self.secrets.first().map_or(0, |(_, value)| value.len())
    }

    /// Redacts text that has not been cut.
    pub(crate) fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }

    /// Redacts output whose beginning (when `cut`) or end may hold part of a value.
    pub(crate) fn output(&self, output: &[u8], cut: bool) -> Vec<u8> {
        let mut rest = output;
        if cut {
            let torn = self.secrets.iter().filter_map(|(_, value)| torn_front(rest, value)).max();
            rest = &rest[torn.unwrap_or(0)..];
        }
        let torn = self.secrets.iter().filter_map(|(_, value)| torn_back(rest, value)).max();
        rest = &rest[..rest.len() - torn.unwrap_or(0)];
        self.bytes(rest)
    }

    fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if let Some((name, value)) = self.secrets.iter().find(|(_, v)| rest.starts_with(v)) {
                out.extend_from_slice(name.as_bytes());
                rest = &rest[value.len()..];
            } else {
                out.push(*first);
                rest = &rest[1..];
            }
        }
        out
    }
}

/// How many bytes at the front are the end of `value`, when a cut went through it.
fn torn_front(bytes: &[u8], value: &[u8]) -> Option<usize> {
    (1..value.len()).rev().find(|n| bytes.starts_with(&value[value.len() - n..]))
}

/// How many bytes at the back are the beginning of `value`, when its printing was interrupted.
fn torn_back(bytes: &[u8], value: &[u8]) -> Option<usize> {
    (SECRET_BYTES_MIN..value.len()).rev().find(|n| bytes.ends_with(&value[..*n]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        Environment::select(
            [
                ("PATH", "/bin"),
                ("KEY", "hunter2secret"),
                ("PIN", "12"),
                ("OTHER", "x"),
                ("TMPDIR", "/t"),
            ],
            &["KEY".into(), "PIN".into(), "ABSENT".into(), "TMPDIR".into()],
        )
    }

    #[test]
    fn only_base_and_listed_names_are_chosen() {
        let chosen = environment();
        let names: Vec<_> = chosen.variables().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["PATH", "KEY", "PIN"]);
        assert_eq!(chosen.missing(), ["ABSENT"]);
        assert!(!format!("{chosen:?}").contains("hunter2"));
    }

    #[test]
    fn values_are_replaced_wherever_a_cut_falls() {
        let redactor = environment().redactor();
        assert_eq!(redactor.text("a hunter2secret b 12"), "a [KEY] b 12");
        assert_eq!(redactor.output(b"r2secret then hunter2", true), b" then ");
        assert_eq!(redactor.output(b"r2secret", false), b"r2secret");
    }
}
