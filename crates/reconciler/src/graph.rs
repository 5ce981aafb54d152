//! The frozen graph of one epoch: who reads what, and who is above whom.

use std::{collections::BTreeMap, sync::Arc};

use fixedbitset::FixedBitSet;
use prose_ir::Fingerprint;
use serde::{Deserialize, Serialize};

/// A node's place in its graph. Indices rise with (height, name), so producers come before their
/// subscribers and a pass in index order is a topological pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIx(pub(crate) u32);

impl NodeIx {
    pub(crate) fn new(index: usize) -> Self {
        // A graph has far fewer nodes than this: `Graph::new` refuses more.
        Self(index as u32)
    }

    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// How a node comes by its truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A gateway without a render body: each event is its truth at once.
    Passthrough,
    /// Rendered by a session; takes no events.
    Rendered,
    /// Rendered by a session from events of the outside world.
    External,
}

/// What identifies a subscription; part of the memo key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InputRef {
    /// The need it satisfies.
    pub need: String,
    /// The producing node.
    pub producer: String,
    /// The facet that is read.
    pub facet: String,
}

/// One resolved subscription.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Input {
    /// What is read.
    pub source: Arc<InputRef>,
    /// Whether a move wakes the reader and the token is part of its memo key.
    pub wakes: bool,
    /// Whether the reader may render before this was ever published.
    pub optional: bool,
}

/// One node of the graph to build.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodeSpec {
    /// Its name, unique in the graph.
    pub name: Arc<str>,
    /// The fingerprint of its contract in this epoch.
    pub contract: Fingerprint,
    /// How it comes by its truth.
    pub role: Role,
    /// Its subscriptions in resolved order.
    pub inputs: Vec<Input>,
}

/// Why nodes do not form a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// Two nodes of one name.
    #[error("two nodes are named `{0}`")]
    Duplicate(Arc<str>),
    /// A subscription to a node that is not there.
    #[error("`{subscriber}` reads `{producer}`, which is not in the graph")]
    UnknownProducer {
        /// The reader.
        subscriber: Arc<str>,
        /// The missing node.
        producer: String,
    },
    /// Subscriptions that form a cycle.
    #[error("the subscriptions of {} form a cycle", .0.join(", "))]
    Cycle(Vec<String>),
    /// More nodes than an index can hold.
    #[error("{0} nodes are more than a graph can hold")]
    TooLarge(usize),
}

const NODES_MAX: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Subscriber {
    pub(crate) node: NodeIx,
    pub(crate) input: usize,
}

/// An immutable, acyclic graph with everything precomputed that a wake needs.
#[derive(Debug)]
pub struct Graph {
    nodes: Vec<NodeSpec>,
    by_name: BTreeMap<Arc<str>, NodeIx>,
    producers: Vec<Vec<NodeIx>>,
    subscribers: Vec<Vec<Subscriber>>,
    ancestors: Vec<FixedBitSet>,
    descendants: Vec<FixedBitSet>,
}

impl Graph {
    /// Builds the graph.
    ///
    /// # Errors
    /// Duplicate names, unknown producers, cycles, or more nodes than fit.
    pub fn new(specs: Vec<NodeSpec>) -> Result<Self, GraphError> {
        if specs.len() > NODES_MAX {
            return Err(GraphError::TooLarge(specs.len()));
        }
        let nodes = in_height_order(specs)?;
        let by_name: BTreeMap<_, _> =
            nodes.iter().enumerate().map(|(i, n)| (n.name.clone(), NodeIx::new(i))).collect();
        let count = nodes.len();
        let mut producers = vec![Vec::new(); count];
        let mut subscribers = vec![Vec::new(); count];
        let mut ancestors = vec![FixedBitSet::with_capacity(count); count];
        let mut descendants = ancestors.clone();
        for (i, node) in nodes.iter().enumerate() {
            for (input, edge) in node.inputs.iter().enumerate() {
                let producer = by_name[edge.source.producer.as_str()];
                producers[i].push(producer);
                if !edge.wakes {
                    continue;
                }
                subscribers[producer.at()].push(Subscriber { node: NodeIx::new(i), input });
                let (above, here) = ancestors.split_at_mut(i);
                here[0].insert(producer.at());
                here[0].union_with(&above[producer.at()]);
            }
            for ancestor in ancestors[i].ones() {
                descendants[ancestor].insert(i);
            }
        }
        Ok(Self { nodes, by_name, producers, subscribers, ancestors, descendants })
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The index of a node.
    pub fn find(&self, name: &str) -> Option<NodeIx> {
        self.by_name.get(name).copied()
    }

    /// A node's specification.
    pub fn spec(&self, node: NodeIx) -> &NodeSpec {
        &self.nodes[node.at()]
    }

    /// Every node, producers before their subscribers.
    pub fn indices(&self) -> impl Iterator<Item = NodeIx> + use<> {
        (0..self.nodes.len()).map(NodeIx::new)
    }

    /// The producer of each input of `node`, in the order of its inputs.
    pub fn producers(&self, node: NodeIx) -> &[NodeIx] {
        &self.producers[node.at()]
    }

    pub(crate) fn subscribers(&self, node: NodeIx) -> &[Subscriber] {
        &self.subscribers[node.at()]
    }

    pub(crate) fn ancestors(&self, node: NodeIx) -> &FixedBitSet {
        &self.ancestors[node.at()]
    }

    pub(crate) fn descendants(&self, node: NodeIx) -> &FixedBitSet {
        &self.descendants[node.at()]
    }
}

/// Sorts nodes by (height, name), where the height is the longest path from a node without inputs.
fn in_height_order(specs: Vec<NodeSpec>) -> Result<Vec<NodeSpec>, GraphError> {
    let mut by_name = BTreeMap::new();
    for (i, spec) in specs.iter().enumerate() {
        if by_name.insert(spec.name.clone(), i).is_some() {
            return Err(GraphError::Duplicate(spec.name.clone()));
        }
    }
    let mut missing = vec![0usize; specs.len()];
    let mut feeds = vec![Vec::new(); specs.len()];
    for (i, spec) in specs.iter().enumerate() {
        for input in &spec.inputs {
            let producer = by_name.get(input.source.producer.as_str()).ok_or_else(|| {
                GraphError::UnknownProducer {
                    subscriber: spec.name.clone(),
                    producer: input.source.producer.clone(),
                }
            })?;
            // What is read without waking puts nobody above anybody, so it can close no cycle.
            if input.wakes {
                missing[i] += 1;
                feeds[*producer].push(i);
            }
        }
    }
    let mut height = vec![0usize; specs.len()];
    let mut free: Vec<usize> = (0..specs.len()).filter(|i| missing[*i] == 0).collect();
    let mut placed = 0;
    while let Some(i) = free.pop() {
        placed += 1;
        for &j in &feeds[i] {
            height[j] = height[j].max(height[i] + 1);
            missing[j] -= 1;
            if missing[j] == 0 {
                free.push(j);
            }
        }
    }
    if placed < specs.len() {
        let ring = specs.iter().zip(&missing).filter(|(_, m)| **m > 0);
        return Err(GraphError::Cycle(ring.map(|(s, _)| s.name.to_string()).collect()));
    }
    let mut order: Vec<(usize, NodeSpec)> = height.into_iter().zip(specs).collect();
    order.sort_by(|(h, a), (k, b)| (h, &a.name).cmp(&(k, &b.name)));
    Ok(order.into_iter().map(|(_, spec)| spec).collect())
}
