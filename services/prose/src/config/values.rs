//! From what is written to what it means.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
    time::Duration,
};

use jiff::SignedDuration;

use super::{Config, Error, Harness, Harnesses, file};
use crate::project::REACTOR_MAX;

const CONCURRENCY: usize = 2;
const CONCURRENCY_MAX: usize = 1_000;

pub(super) fn resolve(path: &Path, file: file::File) -> Result<Config, Error> {
    let values = Values { path };
    let concurrency = file.run.concurrency.unwrap_or(CONCURRENCY);
    if !(1..=CONCURRENCY_MAX).contains(&concurrency) {
        return Err(values.bad("run.concurrency", &format!("must be from 1 to {CONCURRENCY_MAX}")));
    }
    if file.reactor.as_deref().is_some_and(|name| !names_a_reactor(name)) {
        return Err(values.bad("reactor", "must be 1 to 63 of a-z, 0-9, `-`, `_`, first no sign"));
    }
    Ok(Config {
        source: values.inside("source", file.source.as_deref().unwrap_or("."))?,
        concurrency,
        policy: values.policy(&file.run)?,
        limits: values.limits(&file.limits)?,
        tcp: values.tcp(file.listen.tcp.as_deref())?,
        sign: file.sign.enabled.unwrap_or(true),
        harnesses: values.harnesses(file.harness, file.defaults, file.nodes)?,
        reactor: file.reactor,
    })
}

fn names_a_reactor(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    name.len() <= REACTOR_MAX
        && name.bytes().next().is_some_and(plain)
        && name.bytes().all(|b| plain(b) || b == b'-' || b == b'_')
}

struct Values<'a> {
    path: &'a Path,
}

impl Values<'_> {
    fn bad(&self, key: &str, problem: &str) -> Error {
        Error::value(self.path, key, problem)
    }

    fn policy(&self, run: &file::Run) -> Result<prose_reconciler::Policy, Error> {
        let mut policy = prose_reconciler::Policy::default();
        for (key, text, millis) in [
            ("run.lease", &run.lease, &mut policy.lease_ms),
            ("run.backoff", &run.backoff, &mut policy.backoff_ms),
            ("run.backoff_max", &run.backoff_max, &mut policy.backoff_max_ms),
            ("run.patience", &run.patience, &mut policy.patience_ms),
        ] {
            if let Some(text) = text {
                *millis = self.duration(key, text)?.as_millis().try_into().unwrap_or(i64::MAX);
            }
        }
        if let Some(attempts) = run.attempts {
            if attempts == 0 {
                return Err(self.bad("run.attempts", "must be at least 1"));
            }
            policy.attempts_max = attempts;
        }
        Ok(policy)
    }

    fn limits(&self, file: &file::Limits) -> Result<prose_harness::Limits, Error> {
        let mut limits = prose_harness::Limits::default();
        if let Some(text) = &file.deadline {
            limits.deadline = self.duration("limits.deadline", text)?;
        }
        if let Some(text) = &file.grace {
            limits.grace = self.duration("limits.grace", text)?;
        }
        limits.output_bytes = file.output_bytes.unwrap_or(limits.output_bytes);
        limits.published_files = file.published_files.unwrap_or(limits.published_files);
        limits.published_bytes = file.published_bytes.unwrap_or(limits.published_bytes);
        Ok(limits)
    }

    fn duration(&self, key: &str, text: &str) -> Result<Duration, Error> {
        let problem = || self.bad(key, &format!("is {text:?}, not a time span such as \"30s\""));
        let span: SignedDuration = text.parse().map_err(|_| problem())?;
        let span = Duration::try_from(span).map_err(|_| problem())?;
        if span < Duration::from_millis(1) {
            return Err(self.bad(key, "must be at least \"1ms\""));
        }
        Ok(span)
    }

    fn tcp(&self, text: Option<&str>) -> Result<Option<std::net::SocketAddr>, Error> {
        let parse = |text: &str| {
            let problem = format!("is {text:?}, not an address such as \"127.0.0.1:7433\"");
            text.parse().map_err(|_| self.bad("listen.tcp", &problem))
        };
        text.map(parse).transpose()
    }

    /// A path that stays inside the project.
    fn inside(&self, key: &str, text: &str) -> Result<PathBuf, Error> {
        let path = Path::new(text);
        let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if text.is_empty() || !path.components().all(inside) {
            let problem = format!("is {text:?}, not a path inside the project");
            return Err(self.bad(key, &problem));
        }
        Ok(path.to_owned())
    }

    fn harnesses(
        &self,
        named: BTreeMap<String, file::Harness>,
        defaults: file::Defaults,
        nodes: BTreeMap<String, file::Node>,
    ) -> Result<Harnesses, Error> {
        let harnesses = named
            .into_iter()
            .map(|(name, harness)| Ok((name.clone(), self.harness(&name, harness)?)))
            .collect::<Result<BTreeMap<_, _>, Error>>()?;
        let find = |key: &str, name: &str| {
            let problem = || format!("names the harness {name:?}, which is not defined");
            harnesses.get(name).cloned().ok_or_else(|| self.bad(key, &problem()))
        };
        let default = defaults.harness.map(|name| find("defaults.harness", &name)).transpose()?;
        let node = |(name, node): (String, file::Node)| {
            let key = format!("nodes.{name}");
            let harness = match (node.harness, node.jq) {
                (Some(harness), None) => find(&format!("{key}.harness"), &harness)?,
                (None, Some(jq)) => {
                    Harness::Jq { program: self.inside(&format!("{key}.jq"), &jq)? }
                }
                _ => return Err(self.bad(&key, "needs either `harness` or `jq`")),
            };
            Ok((name, harness))
        };
        let nodes = nodes.into_iter().map(node).collect::<Result<_, Error>>()?;
        Ok(Harnesses { default, nodes })
    }

    fn harness(&self, name: &str, harness: file::Harness) -> Result<Harness, Error> {
        let key = format!("harness.{name}.program");
        let program = harness.program.filter(|program| !program.is_empty());
        let program = program.ok_or_else(|| self.bad(&key, "is missing"))?;
        match harness.kind {
            file::Kind::Command => {
                Ok(Harness::Command { program, args: harness.args, model: harness.model })
            }
            file::Kind::Jq if !harness.args.is_empty() || harness.model.is_some() => {
                let key = format!("harness.{name}");
                Err(self.bad(&key, "is of kind `jq`, which takes neither `args` nor `model`"))
            }
            file::Kind::Jq => Ok(Harness::Jq { program: self.inside(&key, &program)? }),
        }
    }
}
