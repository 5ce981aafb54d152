//! A manifest together with its artifacts: what a compile yields and a mount takes.

use std::collections::{BTreeMap, btree_map};

use serde::{Deserialize, Serialize};

use crate::{
    ARTIFACT_VERSION, Canonicalizer, Contract, Fingerprint, Manifest, Postconditions, validate,
};

/// A manifest and everything it points to, keyed by node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// The manifest as written to `manifest.next.json`.
    pub manifest: Manifest,
    /// Canonicalizer of each node.
    pub canonicalizers: BTreeMap<String, Canonicalizer>,
    /// Postconditions of each node.
    pub postconditions: BTreeMap<String, Postconditions>,
    /// Lowered contract of each node.
    pub contracts: BTreeMap<String, Contract>,
}

/// Why a bundle cannot be mounted.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The manifest breaks its own rules.
    #[error("the manifest is invalid: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Manifest(Vec<validate::Violation>),
    /// A node without one of its artifacts, or an artifact without a node.
    #[error("{artifact} of node `{node}` is {problem}")]
    Artifact {
        /// The node.
        node: String,
        /// `canonicalizer`, `postconditions` or `contract`.
        artifact: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

impl Bundle {
    /// Checks the manifest and that every node has its three artifacts, of a version this program
    /// reads and speaking of that node.
    ///
    /// # Errors
    /// The first kind of problem found; all violations of the manifest at once.
    pub fn check(&self) -> Result<(), BundleError> {
        let violations = validate::manifest(&self.manifest);
        if !violations.is_empty() {
            return Err(BundleError::Manifest(violations));
        }
        let mut canonicalizers = Walk::new(&self.canonicalizers);
        let mut postconditions = Walk::new(&self.postconditions);
        let mut contracts = Walk::new(&self.contracts);
        for node in &self.manifest.topology.nodes {
            let name = &node.node;
            let found = canonicalizers.get(name).map(|c| (c.version, &c.node));
            artifact("canonicalizer", name, found)?;
            let found = postconditions.get(name).map(|p| (p.version, &p.node));
            artifact("postconditions", name, found)?;
            let contract = contracts.get(name);
            artifact("contract", name, contract.map(|c| (c.version, &c.node)))?;
            if contract.map(|c| &c.contract_fingerprint) != Some(&node.contract_fingerprint) {
                return Err(problem("contract", name, "not the one the manifest was made from"));
            }
        }
        let nodes = self.manifest.topology.nodes.len();
        for (artifact, count) in [
            ("canonicalizer", self.canonicalizers.len()),
            ("postconditions", self.postconditions.len()),
            ("contract", self.contracts.len()),
        ] {
            if count != nodes {
                return Err(problem(artifact, "?", "there for a node the manifest does not have"));
            }
        }
        Ok(())
    }

    /// A fingerprint of the whole bundle: two mounts of equal bundles are the same mount.
    ///
    /// # Errors
    /// When a value cannot be written as JSON, which only a non-finite number could cause.
    pub fn fingerprint(&self) -> Result<Fingerprint, serde_json::Error> {
        Ok(Fingerprint::of(&serde_json::to_vec(self)?))
    }
}

/// Looks nodes up in a map. Both are sorted by name as a rule, so the next entry is tried first.
struct Walk<'a, T> {
    map: &'a BTreeMap<String, T>,
    next: btree_map::Iter<'a, String, T>,
}

impl<'a, T> Walk<'a, T> {
    fn new(map: &'a BTreeMap<String, T>) -> Self {
        Self { map, next: map.iter() }
    }

    fn get(&mut self, name: &str) -> Option<&'a T> {
        match self.next.next() {
            Some((key, value)) if key == name => Some(value),
            _ => self.map.get(name),
        }
    }
}

fn artifact(
    kind: &'static str,
    node: &str,
    found: Option<(u32, &String)>,
) -> Result<(), BundleError> {
    match found {
        None => Err(problem(kind, node, "missing")),
        Some((version, _)) if version != ARTIFACT_VERSION => {
            Err(problem(kind, node, &format!("of version {version}; this program reads 1")))
        }
        Some((_, of)) if of != node => Err(problem(kind, node, &format!("that of `{of}`"))),
        Some(_) => Ok(()),
    }
}

fn problem(artifact: &'static str, node: &str, problem: &str) -> BundleError {
    BundleError::Artifact { node: node.to_owned(), artifact, problem: problem.to_owned() }
}
