//! Mount: a new epoch of the graph. The topology is a truth like any other.

use std::{collections::BTreeMap, sync::Arc};

use prose_ir::{ATOMIC, Address, Fingerprint};

use crate::{
    Graph, Millis, NodeIx, NodeState, Published, Reactor,
    basis::{Basis, CutKind, Span},
    decision::{Cost, Failure, Status},
    draft::{Draft, Seal},
    graph::{NodeSpec, Role},
    pending::{Cause, CauseKind},
    state::Version,
};

/// The truth of the topology: its tree, and one token a node besides that of the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopologyTruth {
    /// The content address of its tree.
    pub tree: Address,
    /// The token of nodes and edges together.
    pub whole: Fingerprint,
}

impl Reactor {
    /// Opens epoch `epoch` with `graph`, under a new wave.
    ///
    /// Nodes that are new, or whose contract or wiring changed, become dirty; a render of theirs
    /// that is in flight is discarded. Nodes that are gone are retired and keep their chain. A
    /// changed passthrough gateway has nothing to render, so its standing truth is read under the
    /// new contract: `standing` holds what came of that.
    pub fn mount(
        &mut self,
        seal: &mut dyn Seal,
        now: Millis,
        graph: Arc<Graph>,
        epoch: u64,
        truth: TopologyTruth,
        standing: Vec<(NodeIx, Result<Published, Failure>)>,
    ) -> Address {
        let before = self.graph.clone();
        let wave = self.wave + 1;
        let mut retired = Vec::new();
        let mut stored = self.retired.clone();
        for v in before.indices() {
            let mut state = std::mem::take(&mut self.nodes[v.at()]);
            let name = &before.spec(v).name;
            if graph.find(name).is_none() {
                retire(&mut state);
                retired.push(name.clone());
            }
            stored.insert(name.clone(), state);
        }
        stored.insert(prose_ir::TOPOLOGY_NODE.into(), std::mem::take(&mut self.topology));
        *self = Self::restore(graph.clone(), self.policy, epoch, wave, stored);
        self.retired_now = retired;

        let receipt = self.publish_topology(seal, now, truth);
        for v in graph.indices() {
            let name = &graph.spec(v).name;
            let old = before.find(name).map(|o| before.spec(o));
            if old != Some(graph.spec(v)) {
                self.renew(v, receipt.clone());
            } else {
                // Its producers may have changed places: whatever it waits for is looked at anew.
                self.work.insert(v);
            }
        }
        for (v, truth) in standing {
            let old = self.nodes[v.at()].current().cloned();
            let event = self.nodes[v.at()].memo.as_ref().and_then(|memo| memo.event.clone());
            let cause = Cause { wave, kind: CauseKind::Contract, receipt: Some(receipt.clone()) };
            self.publish_at_once(seal, now, v, event, Some(truth), cause);
            self.wake_readers(v, old);
        }
        self.finish(seal, now);
        receipt
    }

    fn publish_topology(
        &mut self,
        seal: &mut dyn Seal,
        now: Millis,
        truth: TopologyTruth,
    ) -> Address {
        let specs = self.graph.indices().map(|v| self.graph.spec(v));
        let mut tokens: BTreeMap<String, Fingerprint> =
            specs.map(|s| (s.name.to_string(), s.contract.clone())).collect();
        tokens.insert(ATOMIC.to_owned(), truth.whole.clone());
        let waves = Span { first: self.wave, at: self.wave };
        let basis = Basis {
            as_of: now,
            contract: truth.whole.clone(),
            waves,
            through: self.wave,
            cut: CutKind::Exact,
            busy: Vec::new(),
            pins: Vec::new(),
            event: Some(truth.whole),
            freshness: 0,
        };
        let cause = Cause { wave: self.wave, kind: CauseKind::External, receipt: None };
        self.topology.memo = Some(basis.key());
        let moved = moved(self.topology.current(), &tokens);
        let draft = Draft {
            moved,
            fingerprints: Arc::new(tokens.clone()),
            tree: Some(truth.tree.clone()),
            ..Draft::unchanged(&self.topology, basis, &[cause], Status::Rendered)
        };
        let receipt = self.seal_topology(seal, draft);
        self.topology.history = vec![Version {
            waves,
            receipt: receipt.clone(),
            tree: truth.tree,
            fingerprints: Arc::new(tokens),
        }];
        receipt
    }

    /// A node that is new or changed owes a render under its new contract.
    fn renew(&mut self, v: NodeIx, receipt: Address) {
        let spec: &NodeSpec = self.graph.spec(v);
        let (role, has_inputs) = (spec.role, !spec.inputs.is_empty());
        let node = &mut self.nodes[v.at()];
        node.retired = false;
        node.since = self.wave;
        drop_work(node);
        // A node fed from outside alone has nothing to render before its first event.
        let fed = has_inputs || node.current().is_some() || node.inbox.is_waiting();
        let owes = match role {
            Role::Passthrough => false,
            Role::External => fed,
            Role::Rendered => true,
        };
        self.touch(v);
        if owes {
            let cause =
                Cause { wave: self.wave, kind: CauseKind::Contract, receipt: Some(receipt) };
            self.mark(v, cause);
        }
        self.revisit_below(v);
    }
}

fn retire(node: &mut NodeState) {
    node.retired = true;
    drop_work(node);
}

/// Forgets what a node was doing; what it owes under the new epoch is marked afterwards. What
/// failed attempts have spent is still owed to its next receipt.
fn drop_work(node: &mut NodeState) {
    let flying = node.flight.take().map(|flight| flight.spent);
    let parked = node.retry.take().map(|retry| retry.spent);
    let pending = node.pending_attempt.take().map(|(_, spent)| spent);
    let spent = flying.or(parked).or(pending).filter(|spent| *spent != Cost::default());
    node.pending_attempt = spent.map(|spent| (0, spent));
    node.ready_since = None;
    node.stalled_since = None;
    node.waiting_for.clear();
    node.dirty.take_all();
}

/// The facets whose token differs between what stood and what stands now, both ways.
pub(super) fn moved(
    before: Option<&Version>,
    after: &BTreeMap<String, Fingerprint>,
) -> Vec<String> {
    let empty = BTreeMap::new();
    let before = before.map_or(&empty, |b| b.fingerprints.as_ref());
    let mut moved: Vec<String> = after
        .iter()
        .filter(|(facet, token)| before.get(*facet) != Some(*token))
        .map(|(facet, _)| facet.clone())
        .collect();
    moved.extend(before.keys().filter(|facet| !after.contains_key(*facet)).cloned());
    moved.sort();
    moved
}
