//! A made-up world for the core to run in: graphs, truths that are numbers, and a ledger in memory.

use std::{collections::BTreeMap, sync::Arc};

use prose_ir::{ATOMIC, Address, Fingerprint};
use prose_reconciler::{
    Draft, Graph, Input, InputRef, NodeSpec, Pin, Place, Published, Role, Seal, TopologyTruth,
};

/// A truth in this world. Its facets are `high` (a quarter of it) and `low` (the rest of four).
pub type Truth = u64;

pub fn token(facet: &str, truth: Truth) -> Fingerprint {
    let part = match facet {
        "high" => truth / 4,
        "low" => truth % 4,
        _ => truth,
    };
    Fingerprint::of(format!("{facet} {part}").as_bytes())
}

pub fn tokens(truth: Truth) -> BTreeMap<String, Fingerprint> {
    [ATOMIC, "high", "low"].into_iter().map(|f| (f.to_owned(), token(f, truth))).collect()
}

pub fn published(truth: Truth) -> Published {
    Published { tree: tree(truth), fingerprints: tokens(truth) }
}

pub fn tree(truth: Truth) -> Address {
    Address::of(format!("tree {truth}").as_bytes())
}

/// What a node makes of what it reads; `coarse` folds many truths into few, so that renders often
/// move nothing.
pub fn render(name: &str, contract: u64, coarse: u64, read: &[Option<Fingerprint>]) -> Truth {
    let text = format!("{name} {contract} {read:?}");
    let hash = Fingerprint::of(text.as_bytes());
    let digits = u64::from_str_radix(&hash.as_str()[7..19], 16).unwrap();
    if coarse > 0 { digits % coarse } else { digits % 64 }
}

pub fn read(pins: &[Pin]) -> Vec<Option<Fingerprint>> {
    pins.iter().map(|p| p.fingerprint.clone()).collect()
}

/// The recipe of a graph: gateways come first, then rendered nodes that read earlier ones.
#[derive(Debug, Clone)]
pub struct Recipe {
    pub gateways: usize,
    /// For each rendered node: its inputs as (index, facet), and how coarse its truths are.
    pub nodes: Vec<(Vec<(usize, &'static str)>, u64)>,
    /// Bumped to change a node's contract.
    pub contracts: Vec<u64>,
}

impl Recipe {
    pub fn new(gateways: usize, nodes: Vec<(Vec<(usize, &'static str)>, u64)>) -> Self {
        let contracts = vec![0; gateways + nodes.len()];
        Self { gateways, nodes, contracts }
    }

    pub fn len(&self) -> usize {
        self.gateways + self.nodes.len()
    }

    pub fn name(&self, i: usize) -> String {
        if i < self.gateways { format!("gate{i}") } else { format!("node{i}") }
    }

    pub fn coarse(&self, i: usize) -> u64 {
        if i < self.gateways { 0 } else { self.nodes[i - self.gateways].1 }
    }

    pub fn inputs(&self, i: usize) -> &[(usize, &'static str)] {
        if i < self.gateways { &[] } else { &self.nodes[i - self.gateways].0 }
    }

    pub fn graph(&self) -> Arc<Graph> {
        let specs = (0..self.len()).map(|i| NodeSpec {
            name: self.name(i).into(),
            contract: Fingerprint::of(format!("{} {}", self.name(i), self.contracts[i]).as_bytes()),
            role: if i < self.gateways { Role::Passthrough } else { Role::Rendered },
            inputs: self
                .inputs(i)
                .iter()
                .map(|(producer, facet)| Input {
                    source: Arc::new(InputRef {
                        need: format!("{producer}-{facet}"),
                        producer: self.name(*producer),
                        facet: (*facet).to_owned(),
                    }),
                    wakes: true,
                    optional: false,
                })
                .collect(),
        });
        Arc::new(Graph::new(specs.collect()).unwrap())
    }
}

pub fn topology(epoch: u64) -> TopologyTruth {
    let text = format!("topology {epoch}");
    TopologyTruth { tree: Address::of(text.as_bytes()), whole: Fingerprint::of(text.as_bytes()) }
}

/// A ledger in memory that checks the chains as they grow.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    pub entries: Vec<(Place, Draft, Address)>,
    heads: BTreeMap<Arc<str>, (u64, Option<Address>)>,
}

impl Seal for Ledger {
    fn seal(&mut self, place: Place, draft: Draft) -> Address {
        let head = self.heads.entry(place.node.clone()).or_default();
        assert_eq!(place.seq, head.0 + 1, "sequence of {}", place.node);
        assert_eq!(place.prev, head.1, "chain of {}", place.node);
        let address = Address::of(format!("{} {}", place.node, place.seq).as_bytes());
        *head = (place.seq, Some(address.clone()));
        self.entries.push((place, draft, address.clone()));
        address
    }
}
