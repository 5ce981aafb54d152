//! The manifest's own rules, checked on the manifest alone: by the compiler before it writes, and
//! by a mount before it accepts.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt,
};

use crate::{ATOMIC, MANIFEST_KIND, MANIFEST_VERSION, Manifest, Node, Severity, WakeSource};

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
    let mut check = Check { manifest, names: Names::new(manifest), violations: Vec::new() };
    check.envelope();
    check.sources();
    check.nodes();
    check.edges();
    check
        .per_node("canonicalizers", manifest.canonicalizers.iter().map(|c| (&c.node, &c.artifact)));
    check
        .per_node("postconditions", manifest.postconditions.iter().map(|p| (&p.node, &p.artifact)));
    check.facets();
    check.diagnostics();
    check.violations
}

/// Every name of a manifest by a number, so that each is looked up once. The nodes come first.
struct Names<'a> {
    ids: HashMap<&'a str, usize>,
    /// How many of the numbers are nodes.
    nodes: usize,
    /// Subscriber and producer of each edge.
    edges: Vec<(usize, usize)>,
}

impl<'a> Names<'a> {
    fn new(manifest: &'a Manifest) -> Self {
        let topology = &manifest.topology;
        let mut names = Self {
            ids: HashMap::with_capacity(topology.nodes.len()),
            nodes: 0,
            edges: Vec::with_capacity(topology.edges.len()),
        };
        for node in &topology.nodes {
            names.id(&node.node);
        }
        names.nodes = names.ids.len();
        let mut before: Option<(&str, usize)> = None;
        for edge in &topology.edges {
            // Edges of one subscriber stand together.
            let subscriber = match before {
                Some((name, id)) if name == edge.subscriber => id,
                _ => names.id(&edge.subscriber),
            };
            before = Some((&edge.subscriber, subscriber));
            let producer = names.id(&edge.producer);
            names.edges.push((subscriber, producer));
        }
        names
    }

    /// The number of a name, which is given one if it has none.
    fn id(&mut self, name: &'a str) -> usize {
        let next = self.ids.len();
        *self.ids.entry(name).or_insert(next)
    }

    /// The number of a node, tried first at the place where a list in order of nodes has it.
    fn node(&self, nodes: &[Node], name: &str, place: usize) -> Option<usize> {
        if self.nodes == nodes.len() && nodes.get(place).is_some_and(|n| n.node == name) {
            return Some(place);
        }
        self.ids.get(name).copied().filter(|id| *id < self.nodes)
    }
}

struct Check<'a> {
    manifest: &'a Manifest,
    names: Names<'a>,
    violations: Vec<Violation>,
}

impl<'a> Check<'a> {
    fn add(&mut self, path: String, problem: impl Into<String>) {
        self.violations.push(Violation { path, problem: problem.into() });
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
                self.add(format!("sources[{i}].path"), "must be root-relative without `.` or `..`");
            }
        }
    }

    fn nodes(&mut self) {
        let topology = &self.manifest.topology;
        let mut seen = vec![false; self.names.nodes];
        let mut fingerprints = self.manifest.contract_fingerprints.iter();
        for (i, node) in topology.nodes.iter().enumerate() {
            if !is_node_name(&node.node) {
                self.add(format!("topology.nodes[{i}].node"), "is not a single plain path segment");
            }
            let id = self.names.node(&topology.nodes, &node.node, i);
            if id.is_none_or(|id| std::mem::replace(&mut seen[id], true)) {
                self.add(format!("topology.nodes[{i}].node"), format!("repeats `{}`", node.node));
            }
            // Both are sorted by name as a rule, so the next entry is tried first.
            let fingerprint = match fingerprints.next() {
                Some((name, fingerprint)) if *name == node.node => Some(fingerprint),
                _ => self.manifest.contract_fingerprints.get(&node.node),
            };
            if fingerprint != Some(&node.contract_fingerprint) {
                self.add(
                    format!("contract_fingerprints.{}", node.node),
                    "must equal the fingerprint of the node",
                );
            }
        }
        for (i, name) in self.manifest.contract_fingerprints.keys().enumerate() {
            if self.names.node(&topology.nodes, name, i).is_none() {
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
            self.add("topology.entry_points".into(), "must be exactly the external-driven nodes");
        }
    }

    fn edges(&mut self) {
        let edges = &self.manifest.topology.edges;
        let is_sorted = edges.is_sorted_by(|a, b| a < b);
        let mut seen = HashSet::new();
        for (i, edge) in edges.iter().enumerate() {
            let (subscriber, producer) = self.names.edges[i];
            for (field, name, id) in [
                ("subscriber", &edge.subscriber, subscriber),
                ("producer", &edge.producer, producer),
            ] {
                if id >= self.names.nodes {
                    self.add(
                        format!("topology.edges[{i}].{field}"),
                        format!("`{name}` is no node"),
                    );
                }
            }
            if subscriber == producer {
                self.add(format!("topology.edges[{i}]"), "a node cannot subscribe to itself");
            }
            if !is_sorted && !seen.insert((subscriber, producer, edge.facet.as_str())) {
                self.add(format!("topology.edges[{i}]"), "repeats an edge");
            }
        }
        let acyclic = is_acyclic(&self.names);
        if acyclic != self.manifest.topology.acyclic {
            self.add("topology.acyclic".into(), format!("says {}, but is not so", !acyclic));
        }
        if !acyclic {
            self.add("topology.edges".into(), "the subscriptions form a cycle");
        }
    }

    fn per_node(&mut self, field: &str, entries: impl Iterator<Item = (&'a String, &'a String)>) {
        let nodes = &self.manifest.topology.nodes;
        let mut seen = vec![false; self.names.nodes];
        for (i, (node, artifact)) in entries.enumerate() {
            let id = self.names.node(nodes, node, i);
            if id.is_none_or(|id| std::mem::replace(&mut seen[id], true)) {
                self.add(format!("{field}[{i}].node"), format!("`{node}` is no node, or repeated"));
            }
            if !is_relative(artifact) {
                self.add(format!("{field}[{i}].artifact"), "must be root-relative");
            }
        }
        if seen.iter().all(|seen| *seen) {
            return;
        }
        let is_left = |name: &&str| self.names.node(nodes, name, 0).is_some_and(|id| !seen[id]);
        let left: BTreeSet<&str> = nodes.iter().map(|n| n.node.as_str()).filter(is_left).collect();
        for node in left {
            self.add(field.to_owned(), format!("has nothing for node `{node}`"));
        }
    }

    fn facets(&mut self) {
        let mut of_others = HashMap::new();
        let mut by_node = vec![None; self.names.nodes];
        for (i, entry) in self.manifest.canonicalizers.iter().enumerate() {
            if entry.facets.first().map(String::as_str) != Some(ATOMIC) {
                self.add(
                    format!("canonicalizers[{i}].facets"),
                    format!("must begin with {ATOMIC}"),
                );
            }
            match self.names.node(&self.manifest.topology.nodes, &entry.node, i) {
                Some(id) => by_node[id] = Some(&entry.facets),
                None => {
                    of_others.insert(entry.node.as_str(), &entry.facets);
                }
            }
        }
        for (i, edge) in self.manifest.topology.edges.iter().enumerate() {
            let (_, producer) = self.names.edges[i];
            let declared = match by_node.get(producer) {
                Some(of_node) => *of_node,
                None => of_others.get(edge.producer.as_str()).copied(),
            };
            if !declared.is_some_and(|f| f.contains(&edge.facet)) {
                self.add(
                    format!("topology.edges[{i}].facet"),
                    format!("`{}` has no facet `{}`", edge.producer, edge.facet),
                );
            }
        }
    }

    fn diagnostics(&mut self) {
        if self.manifest.diagnostics.is_empty() {
            return;
        }
        let sources: HashSet<_> = self.manifest.sources.iter().map(|s| s.path.as_str()).collect();
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
fn is_acyclic(names: &Names) -> bool {
    let count = names.ids.len();
    let mut waits = vec![0_usize; count];
    // The edges of each producer are chained: the first one, and the next one of each.
    let mut first = vec![None; count];
    let mut next = vec![None; names.edges.len()];
    for (at, (subscriber, producer)) in names.edges.iter().enumerate() {
        waits[*subscriber] += 1;
        next[at] = first[*producer].replace(at);
    }
    let mut free: Vec<usize> = (0..count).filter(|id| waits[*id] == 0).collect();
    let mut removed = 0;
    while let Some(node) = free.pop() {
        removed += 1;
        let mut edge: Option<usize> = first[node];
        while let Some(at) = edge {
            let (subscriber, _) = names.edges[at];
            waits[subscriber] -= 1;
            if waits[subscriber] == 0 {
                free.push(subscriber);
            }
            edge = next[at];
        }
    }
    removed == count
}

fn is_relative(path: &str) -> bool {
    !path.contains('\\')
        && path.split('/').all(|s| !s.is_empty() && s != "." && s != ".." && !s.contains('\0'))
}

fn is_node_name(name: &str) -> bool {
    is_relative(name) && !name.contains('/') && !name.starts_with('@')
}
