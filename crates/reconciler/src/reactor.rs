//! One mounted graph, the state of its nodes, and the indexes that make a wake cheap.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use fixedbitset::FixedBitSet;
use prose_ir::{Address, TOPOLOGY_NODE};

use crate::{
    Graph, Millis, NodeIx, NodeState, Policy, Wave,
    draft::{Draft, Place, Seal},
    pending::Cause,
};

/// One reactor: state in, decisions out.
///
/// The fields below the state are derived from it: which nodes are unsettled, which have gaps, and
/// which timer each has. They are what lets an unmoved wake cost the same in a large graph as in a
/// small one.
#[derive(Debug, Clone)]
pub struct Reactor {
    pub(crate) graph: Arc<Graph>,
    pub(crate) policy: Policy,
    pub(crate) epoch: u64,
    pub(crate) wave: Wave,
    pub(crate) nodes: Vec<NodeState>,
    pub(crate) topology: NodeState,
    pub(crate) retired: BTreeMap<Arc<str>, NodeState>,

    /// Nodes with an unsettled wave.
    pub(crate) busy: FixedBitSet,
    /// Nodes with a gap in their history.
    pub(crate) gappy: FixedBitSet,
    timers: BTreeSet<(Millis, NodeIx)>,
    timer: Vec<Option<Millis>>,

    /// Nodes to look at again before the operation ends.
    pub(crate) work: BTreeSet<NodeIx>,
    touched: FixedBitSet,
    topology_touched: bool,
    pub(crate) retired_now: Vec<Arc<str>>,
    announced: FixedBitSet,
}

/// What an operation changed, for the shell to write and publish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// The nodes whose state changed, the topology's own included.
    pub touched: Vec<Arc<str>>,
    /// The nodes that became ready to render.
    pub ready: Vec<Arc<str>>,
}

impl Reactor {
    /// A reactor without nodes, before its first mount.
    pub fn empty(policy: Policy) -> Self {
        // A graph without nodes cannot have a duplicate, a missing producer or a cycle.
        let graph = Graph::new(Vec::new()).unwrap_or_else(|_| unreachable!());
        Self::restore(Arc::new(graph), policy, 0, 0, BTreeMap::new())
    }

    /// Rebuilds a reactor from stored state. Nodes of the graph without stored state start fresh;
    /// stored nodes that are not in the graph are retired ones.
    pub fn restore(
        graph: Arc<Graph>,
        policy: Policy,
        epoch: u64,
        wave: Wave,
        mut stored: BTreeMap<Arc<str>, NodeState>,
    ) -> Self {
        let topology = stored.remove(TOPOLOGY_NODE).unwrap_or_default();
        let count = graph.len();
        let nodes: Vec<NodeState> = graph
            .indices()
            .map(|v| stored.remove(&graph.spec(v).name).unwrap_or_default())
            .collect();
        let mut reactor = Self {
            graph,
            policy,
            epoch,
            wave,
            nodes,
            topology,
            retired: stored,
            busy: FixedBitSet::with_capacity(count),
            gappy: FixedBitSet::with_capacity(count),
            timers: BTreeSet::new(),
            timer: vec![None; count],
            work: BTreeSet::new(),
            touched: FixedBitSet::with_capacity(count),
            topology_touched: false,
            retired_now: Vec::new(),
            announced: FixedBitSet::with_capacity(count),
        };
        for v in reactor.graph.indices() {
            reactor.index(v);
        }
        reactor
    }

    /// The graph of the active epoch.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The active epoch; zero before the first mount.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The newest wave.
    pub fn wave(&self) -> Wave {
        self.wave
    }

    /// The policy in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The state of a node of the graph.
    pub fn node(&self, node: NodeIx) -> &NodeState {
        &self.nodes[node.at()]
    }

    /// The state of a node by name: of the graph, the topology's own, or a retired one.
    pub fn state(&self, name: &str) -> Option<&NodeState> {
        if name == TOPOLOGY_NODE {
            return Some(&self.topology);
        }
        match self.graph.find(name) {
            Some(v) => Some(self.node(v)),
            None => self.retired.get(name),
        }
    }

    /// Names and states of the nodes of the graph, producers before their subscribers.
    pub fn states(&self) -> impl Iterator<Item = (&Arc<str>, &NodeState)> {
        self.graph.indices().map(|v| (self.name(v), self.node(v)))
    }

    /// Names and states of retired nodes.
    pub fn retired(&self) -> impl Iterator<Item = (&Arc<str>, &NodeState)> {
        self.retired.iter()
    }

    /// Nodes that wait for a worker.
    pub fn ready(&self) -> impl Iterator<Item = NodeIx> + '_ {
        self.busy.ones().map(NodeIx::new).filter(|v| self.node(*v).ready_since.is_some())
    }

    /// Whether nothing is pending, in flight or waiting for another attempt. A node that waits for
    /// an input that was never published does not count: nothing will happen until that changes.
    pub fn is_quiet(&self) -> bool {
        self.busy.is_clear() && self.nodes.iter().all(|n| n.retry.is_none())
    }

    /// When [`Reactor::advance`] has something to do, unless something else happens before.
    pub fn next_deadline(&self) -> Option<Millis> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// When the passing of time alone changes something about a node.
    pub fn deadline(&self, node: NodeIx) -> Option<Millis> {
        self.timer[node.at()]
    }

    /// Hands over what changed since the last call.
    pub fn take_effects(&mut self) -> Effects {
        let name = |i: usize| self.name(NodeIx::new(i)).clone();
        let mut touched: Vec<Arc<str>> = self.touched.ones().map(name).collect();
        touched.extend(self.topology_touched.then(|| TOPOLOGY_NODE.into()));
        touched.extend(self.retired_now.iter().cloned());
        let effects = Effects { touched, ready: self.announced.ones().map(name).collect() };
        self.touched.clear();
        self.announced.clear();
        self.topology_touched = false;
        self.retired_now.clear();
        effects
    }

    pub(crate) fn due(&self, now: Millis) -> Vec<NodeIx> {
        self.timers.iter().take_while(|(at, _)| *at <= now).map(|(_, v)| *v).collect()
    }

    pub(crate) fn name(&self, v: NodeIx) -> &Arc<str> {
        &self.graph.spec(v).name
    }

    pub(crate) fn announce_ready(&mut self, v: NodeIx) {
        self.announced.insert(v.at());
    }

    /// Brings the derived indexes in line with the node's state and notes the change.
    pub(crate) fn touch(&mut self, v: NodeIx) {
        self.index(v);
        self.touched.insert(v.at());
    }

    fn index(&mut self, v: NodeIx) {
        let node = &self.nodes[v.at()];
        self.busy.set(v.at(), node.unsettled().is_some());
        self.gappy.set(v.at(), node.history.iter().any(|h| h.waves.first < h.waves.at));
        let due = self.timer_of(node);
        let known = &mut self.timer[v.at()];
        if *known != due {
            if let Some(at) = known.take() {
                self.timers.remove(&(at, v));
            }
            if let Some(at) = due {
                self.timers.insert((at, v));
            }
            *known = due;
        }
    }

    fn timer_of(&self, node: &NodeState) -> Option<Millis> {
        let lease = node.flight.as_ref().map(|f| f.expires_at);
        let retry = node.retry.as_ref().map(|r| r.not_before);
        let decided = node.ready_since.is_some() || !node.waiting_for.is_empty();
        let patience = node.stalled_since.filter(|_| !decided).map(|t| t + self.policy.patience_ms);
        lease.into_iter().chain(retry).chain(patience).min()
    }

    /// Makes `wave` pending for a node. A node that waits for another attempt takes it along.
    pub(crate) fn mark(&mut self, v: NodeIx, cause: Cause) {
        let node = &mut self.nodes[v.at()];
        self.wave = self.wave.max(node.since);
        match &mut node.retry {
            Some(retry) => {
                if !retry.causes.contains(&cause) && retry.causes.len() < RETRY_CAUSES_MAX {
                    retry.causes.push(cause);
                }
            }
            None => node.dirty.mark(Cause { wave: cause.wave.max(node.since), ..cause }),
        }
        self.touch(v);
        self.work.insert(v);
    }

    /// Looks again at everything below `v`: what it was waiting for may be settled now.
    pub(crate) fn revisit_below(&mut self, v: NodeIx) {
        let below = self.graph.descendants(v);
        self.work.extend(below.intersection(&self.busy).map(NodeIx::new));
    }

    /// Ends an operation: settles what it woke, then drops the history of the touched nodes that no
    /// unsettled wave can still ask for.
    pub(crate) fn finish(&mut self, seal: &mut dyn Seal, now: Millis) {
        self.settle(seal, now);
        let oldest = self.busy.ones().filter_map(|b| self.nodes[b].unsettled()).min();
        let horizon = oldest.unwrap_or(self.wave);
        for i in 0..self.nodes.len() {
            if !self.touched.contains(i) || self.nodes[i].history.is_empty() {
                continue;
            }
            let history = &mut self.nodes[i].history;
            let keep_from = history.partition_point(|h| h.waves.at <= horizon).saturating_sub(1);
            history.drain(..keep_from);
            if let Some(oldest) = history.first_mut()
                && oldest.waves.at <= horizon
            {
                // A gap below every unsettled wave will never be looked at again.
                oldest.waves.first = oldest.waves.at;
            }
            self.index(NodeIx::new(i));
        }
    }

    /// Chains and seals a decision about a node of the graph and updates its head.
    pub(crate) fn seal(&mut self, seal: &mut dyn Seal, v: NodeIx, draft: Draft) -> Address {
        let name = self.name(v).clone();
        let epoch = self.epoch;
        let node = &mut self.nodes[v.at()];
        let address = chain(node, name, epoch, seal, draft);
        self.touch(v);
        address
    }

    pub(crate) fn seal_topology(&mut self, seal: &mut dyn Seal, draft: Draft) -> Address {
        let epoch = self.epoch;
        self.topology_touched = true;
        chain(&mut self.topology, TOPOLOGY_NODE.into(), epoch, seal, draft)
    }
}

/// Wakes remembered for a node that waits for another attempt.
pub(crate) const RETRY_CAUSES_MAX: usize = 16;

fn chain(
    node: &mut NodeState,
    name: Arc<str>,
    epoch: u64,
    seal: &mut dyn Seal,
    draft: Draft,
) -> Address {
    node.seq += 1;
    node.last = Some(draft.status);
    let place = Place { node: name, epoch, seq: node.seq, prev: node.head.take() };
    let address = seal.seal(place, draft);
    node.head = Some(address.clone());
    address
}
