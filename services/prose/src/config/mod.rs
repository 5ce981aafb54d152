//! `prose.toml`: what the operator of a project decides.

mod error;
mod file;
mod keys;
mod values;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
};

pub(crate) use error::Error;

/// The file that documents every key, with the defaults in it.
pub(crate) const DEFAULT: &str = include_str!("default.toml");

/// Its name in a project.
pub(crate) const FILE: &str = "prose.toml";

/// A project's configuration, checked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    /// The name of the reactor, where it is not that of the folder.
    pub reactor: Option<String>,
    /// Where the contracts are, below the project.
    pub source: PathBuf,
    /// Renders at the same time.
    pub concurrency: usize,
    /// Leases, retries, patience.
    pub policy: prose_reconciler::Policy,
    /// Caps of one session.
    pub limits: prose_harness::Limits,
    /// Serve TCP as well.
    pub tcp: Option<SocketAddr>,
    /// Whether receipts are signed.
    pub sign: bool,
    /// What runs the sessions of nodes.
    pub harnesses: Harnesses,
}

/// Which harness renders which node.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Harnesses {
    /// Of nodes that name none.
    pub default: Option<Harness>,
    /// By node.
    pub nodes: BTreeMap<String, Harness>,
}

/// One configured harness.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Harness {
    /// Any program.
    Command { program: String, args: Vec<String>, model: Option<String> },
    /// A jq program, in a file below the project.
    Jq { program: PathBuf },
}

impl Config {
    /// Reads `text`, the content of the file at `path`.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        keys::check(path, text)?;
        let file: file::File =
            toml::from_str(text).map_err(|error| Error::syntax(path, text, &error))?;
        values::resolve(path, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, Error> {
        Config::parse(Path::new("prose.toml"), text)
    }

    #[test]
    fn the_default_file_documents_every_key_and_says_what_an_empty_one_means() {
        assert_eq!(parse(DEFAULT).unwrap(), parse("").unwrap());
        let config = parse(DEFAULT).unwrap();
        assert_eq!(config.policy, prose_reconciler::Policy::default());
        assert_eq!(config.limits, prose_harness::Limits::default());
        // What stands in a comment is an example that works, too.
        let key = |line: &&str| line.starts_with("# [") || line.contains(" = ");
        let uncommented: String = DEFAULT
            .lines()
            .filter(|line| !line.starts_with('#') || key(line))
            .map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line)))
            .collect();
        let config = parse(&uncommented).unwrap();
        assert_eq!(config.reactor.as_deref(), Some("my-project"));
        assert_eq!(config.harnesses.nodes.len(), 2);
        for path in keys::all() {
            let key = path.rsplit('.').next().unwrap();
            let wanted = format!("{key} = ");
            assert!(uncommented.lines().any(|line| line.starts_with(&wanted)), "{path}");
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
        for (text, message, help) in [
            ("sorce = 'x'", "prose.toml:1: unknown key `sorce`", "did you mean `source`?"),
            (
                "\n[run]\nconcurency = 1",
                "prose.toml:3: unknown key `run.concurency`",
                "`run.concurrency`?",
            ),
            (
                "[nodes.a]\nharnes = 'x'",
                "prose.toml:2: unknown key `nodes.a.harnes`",
                "`nodes.a.harness`?",
            ),
            ("[quite-different]", "prose.toml:1: unknown key `quite-different`", "known here:"),
        ] {
            let error = crate::error::Error::from(parse(text).unwrap_err());
            assert_eq!((&*error.code, &*error.message), ("config_unknown_key", message));
            assert!(error.help.as_ref().unwrap().contains(help), "{:?}", error.help);
        }
    }

    #[test]
    fn a_value_that_makes_no_sense_is_refused_at_its_key() {
        for (text, code, part) in [
            ("[run]\nlease = '30'", "config_value", "run.lease"),
            ("[run]\nlease = '-3s'", "config_value", "run.lease"),
            ("[run]\nconcurrency = 0", "config_value", "run.concurrency"),
            ("[run]\nconcurrency = 'two'", "config_syntax", "prose.toml:2"),
            ("[run\n", "config_syntax", "prose.toml:1"),
            ("source = '../elsewhere'", "config_value", "source"),
            ("source = '/etc'", "config_value", "source"),
            ("[listen]\ntcp = 'here'", "config_value", "listen.tcp"),
            ("reactor = ''", "config_value", "reactor"),
            ("[defaults]\nharness = 'x'", "config_value", "defaults.harness"),
            ("[nodes.a]", "config_value", "nodes.a"),
            ("[harness.x]\nkind = 'command'", "config_value", "harness.x.program"),
            ("[harness.x]\nkind = 'awk'\nprogram = 'x'", "config_syntax", "awk"),
            ("[nodes.a]\njq = 'x'\nharness = 'y'", "config_value", "nodes.a"),
        ] {
            let error = crate::error::Error::from(parse(text).unwrap_err());
            assert_eq!(error.code, code, "{text}");
            assert!(error.message.contains(part), "{text}: {}", error.message);
        }
    }
}
