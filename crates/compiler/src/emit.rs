//! Puts the manifest and its artifacts together.

use std::collections::BTreeMap;

use prose_contract::{Diagnostic, File, Kind, Severity};
use prose_ir::{
    ATOMIC, Bundle, Canonicalizer, CanonicalizerRef, Contract, Edge, Manifest, Node,
    PostconditionMode, PostconditionRef, Postconditions, Source, SourceKind, Topology, WakeSource,
};

/// Everything known of one node.
pub(crate) struct NodeParts {
    pub(crate) contract: Contract,
    pub(crate) canonicalizer: Canonicalizer,
    pub(crate) postconditions: Postconditions,
    pub(crate) wake_source: WakeSource,
}

/// The artifact of one kind of a node.
fn artifact(folder: &str, node: &str) -> String {
    format!("dist/{folder}/{node}.json")
}

pub(crate) fn bundle(
    sources: Vec<Source>,
    mut nodes: Vec<NodeParts>,
    edges: Vec<Edge>,
    acyclic: bool,
    diagnostics: &[Diagnostic],
) -> Bundle {
    nodes.sort_by(|a, b| a.contract.node.cmp(&b.contract.node));
    let manifest = manifest(sources, &nodes, edges, acyclic, diagnostics);
    let mut bundle = Bundle {
        manifest,
        canonicalizers: BTreeMap::new(),
        postconditions: BTreeMap::new(),
        contracts: BTreeMap::new(),
    };
    for node in nodes {
        let name = node.contract.node.clone();
        bundle.canonicalizers.insert(name.clone(), node.canonicalizer);
        bundle.postconditions.insert(name.clone(), node.postconditions);
        bundle.contracts.insert(name, node.contract);
    }
    bundle
}

fn manifest(
    sources: Vec<Source>,
    nodes: &[NodeParts],
    edges: Vec<Edge>,
    acyclic: bool,
    diagnostics: &[Diagnostic],
) -> Manifest {
    Manifest {
        kind: prose_ir::MANIFEST_KIND.to_owned(),
        version: prose_ir::MANIFEST_VERSION,
        topology: Topology {
            nodes: nodes.iter().map(topology_node).collect(),
            edges,
            entry_points: nodes
                .iter()
                .filter(|n| n.wake_source == WakeSource::External)
                .map(|n| n.contract.node.clone())
                .collect(),
            acyclic,
        },
        canonicalizers: nodes.iter().map(canonicalizer_ref).collect(),
        postconditions: nodes.iter().map(postcondition_ref).collect(),
        contract_fingerprints: nodes
            .iter()
            .map(|n| (n.contract.node.clone(), n.contract.contract_fingerprint.clone()))
            .collect(),
        diagnostics: diagnostics.iter().map(remark).collect(),
        sources,
    }
}

fn topology_node(node: &NodeParts) -> Node {
    Node {
        node: node.contract.node.clone(),
        contract_fingerprint: node.contract.contract_fingerprint.clone(),
        wake_source: node.wake_source,
    }
}

fn canonicalizer_ref(node: &NodeParts) -> CanonicalizerRef {
    let name = &node.contract.node;
    let mut facets = vec![ATOMIC.to_owned()];
    facets.extend(node.contract.facets.iter().cloned());
    CanonicalizerRef { node: name.clone(), artifact: artifact("canonicalizers", name), facets }
}

fn postcondition_ref(node: &NodeParts) -> PostconditionRef {
    let name = &node.contract.node;
    let attested = node.postconditions.checks.iter().any(|c| c.judge == prose_ir::Judge::Render);
    PostconditionRef {
        node: name.clone(),
        artifact: artifact("postconditions", name),
        mode: if attested {
            PostconditionMode::RenderAttested
        } else {
            PostconditionMode::Deterministic
        },
    }
}

fn remark(diagnostic: &Diagnostic) -> prose_ir::Diagnostic {
    let place = if diagnostic.path.is_empty() {
        String::new()
    } else {
        format!(" {}:{}", diagnostic.path, diagnostic.line)
    };
    prose_ir::Diagnostic {
        severity: match diagnostic.severity {
            Severity::Info => prose_ir::Severity::Info,
            Severity::Warning => prose_ir::Severity::Warning,
            Severity::Error => prose_ir::Severity::Error,
        },
        message: format!("{}{place}: {}", diagnostic.code.as_str(), diagnostic.message),
        source_path: (!diagnostic.path.is_empty()).then(|| diagnostic.path.clone()),
    }
}

/// The record of one source file; `file` is absent for one that cannot be read as a contract.
pub(crate) fn source(path: &str, file: Option<&File>) -> Source {
    let kind = match file.and_then(|f| f.entry.kind) {
        Some(Kind::Responsibility) => SourceKind::Responsibility,
        Some(Kind::Function) => SourceKind::Function,
        Some(Kind::Gateway) => SourceKind::Gateway,
        Some(Kind::Pattern) => SourceKind::Pattern,
        Some(Kind::Test) => SourceKind::Test,
        None => SourceKind::Unknown,
    };
    let name = file.map(|f| f.entry.name.value.clone()).filter(|n| !n.is_empty());
    Source { path: path.to_owned(), kind, name }
}
