//! The manifest's own rules, checked on the manifest alone: by the compiler before it writes, and
//! by a mount before it accepts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use crate::{ATOMIC, MANIFEST_KIND, MANIFEST_VERSION, Manifest, Severity, WakeSource};

/// One broken rule and where it is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON path, such as `topology.edges[2].facet`.
    pub path: String,
    /// What is wrong there.
    pub problem: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.problem)
    }
}

/// Lists every rule that `manifest` breaks; empty when it may be written and mounted.
pub fn manifest(manifest: &Manifest) -> Vec<Violation> {
    let mut check = Check {
        manifest,
        violations: Vec::new(),
    };
    check.envelope();
    check.sources();
    check.nodes();
    check.edges();
    check.per_node(
        "canonicalizers",
        manifest
            .canonicalizers
            .iter()
            .map(|c| (&c.node, &c.artifact)),
    );
    check.per_node(
        "postconditions",
        manifest
            .postconditions
            .iter()
            .map(|p| (&p.node, &p.artifact)),
    );
    check.facets();
    check.diagnostics();
    check.violations
}

struct Check<'a> {
    manifest: &'a Manifest,
    violations: Vec<Violation>,
}

impl<'a> Check<'a> {
    fn add(&mut self, path: String, problem: impl Into<String>) {
        self.violations.push(Violation {
            path,
            problem: problem.into(),
        });
    }

    fn names(&self) -> BTreeSet<&'a str> {
        self.manifest
            .topology
            .nodes
            .iter()
            .map(|n| n.node.as_str())
            .collect()
    }

    fn envelope(&mut self) {
        if self.manifest.kind != MANIFEST_KIND {
            self.add("kind".into(), format!("must be `{MANIFEST_KIND}`"));
        }
        if self.manifest.version != MANIFEST_VERSION {
            self.add("version".into(), format!("must be {MANIFEST_VERSION}"));
        }
    }

    fn sources(&mut self) {
        for (i, source) in self.manifest.sources.iter().enumerate() {
            if !is_relative(&source.path) {
                self.add(
                    format!("sources[{i}].path"),
                    "must be root-relative without `.` or `..`",
                );
            }
        }
    }

    fn nodes(&mut self) {
        let topology = &self.manifest.topology;
        let mut seen = BTreeSet::new();
        for (i, node) in topology.nodes.iter().enumerate() {
            if !is_node_name(&node.node) {
                self.add(
                    format!("topology.nodes[{i}].node"),
                    "is not a single plain path segment",
                );
            }
            if !seen.insert(node.node.as_str()) {
                self.add(
                    format!("topology.nodes[{i}].node"),
                    format!("repeats `{}`", node.node),
                );
            }
            if self.manifest.contract_fingerprints.get(&node.node)
                != Some(&node.contract_fingerprint)
            {
                self.add(
                    format!("contract_fingerprints.{}", node.node),
                    "must equal the fingerprint of the node",
                );
            }
        }
        for name in self.manifest.contract_fingerprints.keys() {
            if !seen.contains(name.as_str()) {
                self.add(format!("contract_fingerprints.{name}"), "names no node");
            }
        }
        let external: BTreeSet<_> = topology
            .nodes
            .iter()
            .filter(|n| n.wake_source == WakeSource::External)
            .map(|n| n.node.as_str())
            .collect();
        let entries: BTreeSet<_> = topology.entry_points.iter().map(String::as_str).collect();
        if external != entries || entries.len() != topology.entry_points.len() {
            self.add(
                "topology.entry_points".into(),
                "must be exactly the external-driven nodes",
            );
        }
    }

    fn edges(&mut self) {
        let names = self.names();
        let mut seen = BTreeSet::new();
        for (i, edge) in self.manifest.topology.edges.iter().enumerate() {
            for (field, name) in [
                ("subscriber", &edge.subscriber),
                ("producer", &edge.producer),
            ] {
                if !names.contains(name.as_str()) {
                    self.add(
                        format!("topology.edges[{i}].{field}"),
                        format!("`{name}` is no node"),
                    );
                }
            }
            if edge.subscriber == edge.producer {
                self.add(
                    format!("topology.edges[{i}]"),
                    "a node cannot subscribe to itself",
                );
            }
            if !seen.insert(edge) {
                self.add(format!("topology.edges[{i}]"), "repeats an edge");
            }
        }
        let acyclic = is_acyclic(self.manifest);
        if acyclic != self.manifest.topology.acyclic {
            self.add(
                "topology.acyclic".into(),
                format!("says {}, but is not so", !acyclic),
            );
        }
        if !acyclic {
            self.add("topology.edges".into(), "the subscriptions form a cycle");
        }
    }

    fn per_node(&mut self, field: &str, entries: impl Iterator<Item = (&'a String, &'a String)>) {
        let mut left = self.names();
        for (i, (node, artifact)) in entries.enumerate() {
            if !left.remove(node.as_str()) {
                self.add(
                    format!("{field}[{i}].node"),
                    format!("`{node}` is no node, or repeated"),
                );
            }
            if !is_relative(artifact) {
                self.add(format!("{field}[{i}].artifact"), "must be root-relative");
            }
        }
        for node in left {
            self.add(field.to_owned(), format!("has nothing for node `{node}`"));
        }
    }

    fn facets(&mut self) {
        let mut facets = BTreeMap::new();
        for (i, entry) in self.manifest.canonicalizers.iter().enumerate() {
            if entry.facets.first().map(String::as_str) != Some(ATOMIC) {
                self.add(
                    format!("canonicalizers[{i}].facets"),
                    format!("must begin with {ATOMIC}"),
                );
            }
            facets.insert(entry.node.as_str(), &entry.facets);
        }
        for (i, edge) in self.manifest.topology.edges.iter().enumerate() {
            let known = facets
                .get(edge.producer.as_str())
                .is_some_and(|f| f.contains(&edge.facet));
            if !known {
                self.add(
                    format!("topology.edges[{i}].facet"),
                    format!("`{}` has no facet `{}`", edge.producer, edge.facet),
                );
            }
        }
    }

    fn diagnostics(&mut self) {
        let sources: BTreeSet<_> = self
            .manifest
            .sources
            .iter()
            .map(|s| s.path.as_str())
            .collect();
        for (i, diagnostic) in self.manifest.diagnostics.iter().enumerate() {
            if diagnostic.severity == Severity::Error {
                self.add(
                    format!("diagnostics[{i}]"),
                    "an error keeps the manifest from being written",
                );
            }
            if let Some(path) = &diagnostic.source_path
                && !sources.contains(path.as_str())
            {
                self.add(format!("diagnostics[{i}].sourcePath"), "names no source");
            }
        }
    }
}

/// Kahn's algorithm: whatever cannot be removed from the source end is on or behind a cycle.
fn is_acyclic(manifest: &Manifest) -> bool {
    let mut waits: BTreeMap<&str, usize> = BTreeMap::new();
    let mut feeds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for edge in &manifest.topology.edges {
        *waits.entry(&edge.subscriber).or_default() += 1;
        waits.entry(&edge.producer).or_default();
        feeds
            .entry(&edge.producer)
            .or_default()
            .push(&edge.subscriber);
    }
    let mut free: Vec<&str> = waits
        .iter()
        .filter(|(_, n)| **n == 0)
        .map(|(v, _)| *v)
        .collect();
    let mut removed = 0;
    while let Some(node) = free.pop() {
        removed += 1;
        for subscriber in feeds.get(node).into_iter().flatten() {
            if let Some(left) = waits.get_mut(subscriber) {
                *left -= 1;
                if *left == 0 {
                    free.push(subscriber);
                }
            }
        }
    }
    removed == waits.len()
}

fn is_relative(path: &str) -> bool {
    !path.contains('\\')
        && path
            .split('/')
            .all(|s| !s.is_empty() && s != "." && s != ".." && !s.contains('\0'))
}

fn is_node_name(name: &str) -> bool {
    is_relative(name) && !name.contains('/') && !name.starts_with('@')
}
