//! An epoch as the run phase uses it: the graph, and what is compiled for each node.

use std::{collections::BTreeMap, sync::Arc};

use prose_ir::{Bundle, Contract, Judge, NodeKind, Postconditions, WakeMode};
use prose_reconciler::{Graph, Input, InputRef, NodeSpec, Role};
use prose_truth::Canonicalizer;

use crate::Error;

/// One mounted bundle.
pub(crate) struct Program {
    pub(crate) bundle: Bundle,
    pub(crate) graph: Arc<Graph>,
    nodes: BTreeMap<String, NodeProgram>,
}

/// What is compiled for one node.
pub(crate) struct NodeProgram {
    pub(crate) canonicalizer: Canonicalizer,
    pub(crate) postconditions: Postconditions,
    pub(crate) contract: Contract,
    pub(crate) role: Role,
    /// The keys of the document that are facets' regions.
    pub(crate) regions: Vec<String>,
    /// Whether a condition is an expression, which may read the prior truth and the inputs.
    pub(crate) has_expressions: bool,
}

impl Program {
    pub(crate) fn empty() -> Self {
        let manifest = prose_ir::Manifest {
            kind: prose_ir::MANIFEST_KIND.to_owned(),
            version: prose_ir::MANIFEST_VERSION,
            sources: Vec::new(),
            topology: prose_ir::Topology {
                nodes: Vec::new(),
                edges: Vec::new(),
                entry_points: Vec::new(),
                acyclic: true,
            },
            canonicalizers: Vec::new(),
            postconditions: Vec::new(),
            contract_fingerprints: BTreeMap::new(),
            diagnostics: Vec::new(),
        };
        let bundle = Bundle {
            manifest,
            canonicalizers: BTreeMap::new(),
            postconditions: BTreeMap::new(),
            contracts: BTreeMap::new(),
        };
        let graph = prose_reconciler::Reactor::empty(Default::default()).graph().clone();
        Self { bundle, graph, nodes: BTreeMap::new() }
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Error> {
        let bundle = serde_json::from_slice(bytes)
            .map_err(|error| Error::Program(format!("it is not a bundle: {error}")))?;
        Self::new(bundle)
    }

    pub(crate) fn new(bundle: Bundle) -> Result<Self, Error> {
        bundle.check()?;
        let specs = bundle.contracts.values().map(spec).collect();
        let graph = Graph::new(specs).map_err(|error| Error::Program(error.to_string()))?;
        let mut nodes = BTreeMap::new();
        for (name, contract) in &bundle.contracts {
            let canonicalizer = Canonicalizer::new(&bundle.canonicalizers[name])
                .map_err(|error| Error::Program(format!("node `{name}`: {error}")))?;
            let mut postconditions = bundle.postconditions[name].clone();
            if role(contract) == Role::Passthrough {
                // No session stands behind an event that could attest anything.
                postconditions.checks.retain(|check| check.judge != Judge::Render);
            }
            let is_expression = |check: &prose_ir::Check| matches!(check.judge, Judge::Cel(_));
            let facets = bundle.canonicalizers[name].facets.iter();
            let region = |f: &prose_ir::FacetSpec| f.family.as_ref().unwrap_or(&f.name).clone();
            let program = NodeProgram {
                canonicalizer,
                has_expressions: postconditions.checks.iter().any(is_expression),
                postconditions,
                contract: contract.clone(),
                role: role(contract),
                regions: facets.map(region).collect(),
            };
            nodes.insert(name.clone(), program);
        }
        Ok(Self { graph: Arc::new(graph), bundle, nodes })
    }

    pub(crate) fn node(&self, name: &str) -> Option<&NodeProgram> {
        self.nodes.get(name)
    }

    /// Nodes that take events, by name.
    pub(crate) fn gateways(&self) -> Vec<String> {
        let takes = |c: &&Contract| role(c) != Role::Rendered;
        self.bundle.contracts.values().filter(takes).map(|c| c.node.clone()).collect()
    }
}

fn role(contract: &Contract) -> Role {
    match contract.kind {
        NodeKind::Gateway if !contract.execution => Role::Passthrough,
        NodeKind::Gateway => Role::External,
        NodeKind::Responsibility if contract.wake_modes.contains(&WakeMode::External) => {
            Role::External
        }
        NodeKind::Responsibility => Role::Rendered,
    }
}

fn spec(contract: &Contract) -> NodeSpec {
    let input = |need: &prose_ir::Need, slot: &prose_ir::Slot| Input {
        source: Arc::new(InputRef {
            need: need.name.clone(),
            producer: slot.producer.clone(),
            facet: slot.facet.clone(),
        }),
        wakes: !need.context,
        optional: need.optional,
    };
    let needs = contract.needs.iter();
    NodeSpec {
        name: contract.node.as_str().into(),
        contract: contract.contract_fingerprint.clone(),
        role: role(contract),
        inputs: needs.flat_map(|n| n.slots.iter().map(move |s| input(n, s))).collect(),
    }
}
