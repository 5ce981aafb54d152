//! Puts the manifest and its artifacts together.

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
    ["dist/", folder, "/", node, ".json"].concat()
}

/// Everything but the sources. Nodes must come sorted by name.
pub(crate) fn bundle(
    nodes: impl Iterator<Item = NodeParts>,
    edges: Vec<Edge>,
    acyclic: bool,
    diagnostics: &[Diagnostic],
) -> Bundle {
    let count = nodes.size_hint().1.unwrap_or_default();
    let mut topology =
        Topology { nodes: Vec::with_capacity(count), edges, entry_points: Vec::new(), acyclic };
    let mut refs = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut fingerprints = Vec::with_capacity(count);
    let mut canonicalizers = Vec::with_capacity(count);
    let mut postconditions = Vec::with_capacity(count);
    let mut contracts = Vec::with_capacity(count);
    for node in nodes {
        let name = &node.contract.node;
        topology.nodes.push(topology_node(&node));
        if node.wake_source == WakeSource::External {
            topology.entry_points.push(name.clone());
        }
        refs.0.push(canonicalizer_ref(&node));
        refs.1.push(postcondition_ref(&node));
        fingerprints.push((name.clone(), node.contract.contract_fingerprint.clone()));
        canonicalizers.push((name.clone(), node.canonicalizer));
        postconditions.push((name.clone(), node.postconditions));
        contracts.push((name.clone(), node.contract));
    }
    // Maps that are collected from what is sorted already are not searched for each entry.
    let manifest = Manifest {
        kind: prose_ir::MANIFEST_KIND.to_owned(),
        version: prose_ir::MANIFEST_VERSION,
        sources: Vec::new(),
        topology,
        canonicalizers: refs.0,
        postconditions: refs.1,
        contract_fingerprints: fingerprints.into_iter().collect(),
        diagnostics: diagnostics.iter().map(remark).collect(),
    };
    Bundle {
        manifest,
        canonicalizers: canonicalizers.into_iter().collect(),
        postconditions: postconditions.into_iter().collect(),
        contracts: contracts.into_iter().collect(),
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
    let mut facets = Vec::with_capacity(node.contract.facets.len() + 1);
    facets.push(ATOMIC.to_owned());
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
pub(crate) fn source(path: String, file: Option<File>) -> Source {
    let kind = match file.as_ref().and_then(|f| f.entry.kind) {
        Some(Kind::Responsibility) => SourceKind::Responsibility,
        Some(Kind::Function) => SourceKind::Function,
        Some(Kind::Gateway) => SourceKind::Gateway,
        Some(Kind::Pattern) => SourceKind::Pattern,
        Some(Kind::Test) => SourceKind::Test,
        None => SourceKind::Unknown,
    };
    let name = file.map(|f| f.entry.name.value).filter(|n| !n.is_empty());
    Source { path, kind, name }
}
