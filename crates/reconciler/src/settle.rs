//! The fixpoint at the end of every operation: what is unmoved is skipped, what moved is ready.

use std::sync::Arc;

use prose_ir::Address;

use crate::{
    Millis, NodeIx, Reactor, Wave,
    basis::{Basis, CutKind, Span},
    cut::Look,
    decision::Status,
    draft::{Draft, Seal},
    pending::Cause,
    state::Version,
};

impl Reactor {
    /// Looks at every node that was woken or whose ancestors moved on, producers first.
    pub(crate) fn settle(&mut self, seal: &mut dyn Seal, now: Millis) {
        while let Some(v) = self.work.pop_first() {
            self.settle_node(seal, now, v);
        }
    }

    fn settle_node(&mut self, seal: &mut dyn Seal, now: Millis, v: NodeIx) {
        let node = &self.nodes[v.at()];
        if node.flight.is_some() || node.is_parked() {
            return;
        }
        match self.look(v) {
            Look::Idle => self.rest(v),
            Look::Unsettled => self.wait(v, None),
            Look::Gaps => {
                let since = node.stalled_since.unwrap_or(now);
                self.wait(v, Some(since));
                if now - since >= self.policy.patience_ms {
                    self.decide(seal, now, v, self.wave, CutKind::Mixed);
                }
            }
            Look::At(wave) => self.decide(seal, now, v, wave, CutKind::Exact),
        }
    }

    fn rest(&mut self, v: NodeIx) {
        let node = &mut self.nodes[v.at()];
        if node.ready_since.take().is_some() | node.stalled_since.take().is_some() {
            self.touch(v);
        }
    }

    fn wait(&mut self, v: NodeIx, stalled_since: Option<Millis>) {
        let node = &mut self.nodes[v.at()];
        let waited = !std::mem::take(&mut node.waiting_for).is_empty();
        if node.ready_since.take().is_some() || waited || node.stalled_since != stalled_since {
            node.stalled_since = stalled_since;
            self.touch(v);
        }
    }

    /// Decides a node at a cut: it waits for an input, is skipped, or becomes ready.
    fn decide(&mut self, seal: &mut dyn Seal, now: Millis, v: NodeIx, wave: Wave, cut: CutKind) {
        let pins = self.pins(v, wave);
        let missing = pins.missing();
        if !missing.is_empty() {
            match cut {
                CutKind::Exact => self.give_up_until(v, wave, missing),
                // Its producer may yet publish at a wave that is pending here: nothing is dropped.
                CutKind::Mixed => self.wait_for(v, missing),
            }
        } else if self.is_unmoved(v, wave) {
            self.skip(seal, now, v, wave, cut);
        } else {
            let node = &mut self.nodes[v.at()];
            node.waiting_for.clear();
            if cut == CutKind::Exact {
                node.stalled_since = None;
            }
            if node.ready_since.is_none() {
                node.ready_since = Some(now);
                self.announce_ready(v);
            }
            self.touch(v);
        }
    }

    /// Whether the memo key at `wave` is the one the last receipt was decided on.
    pub(crate) fn is_unmoved(&self, v: NodeIx, wave: Wave) -> bool {
        let node = &self.nodes[v.at()];
        if node.has_failed() || node.forced || node.inbox.newest(wave).is_some() {
            return false;
        }
        let Some(memo) = &node.memo else { return false };
        memo.contract == self.graph.spec(v).contract
            && memo.freshness == node.freshness
            && self.pins(v, wave).equal(memo)
    }

    fn wait_for(&mut self, v: NodeIx, missing: Vec<usize>) {
        self.nodes[v.at()].waiting_for = missing;
        self.touch(v);
    }

    /// A required input was never published: nothing to do until its producer's first receipt.
    fn give_up_until(&mut self, v: NodeIx, wave: Wave, missing: Vec<usize>) {
        let node = &mut self.nodes[v.at()];
        node.dirty.take(wave);
        node.forget_attempts();
        node.waiting_for = missing;
        node.ready_since = None;
        node.stalled_since = None;
        self.touch(v);
        self.work.insert(v);
        self.revisit_below(v);
    }

    /// The waves up to `wave` changed nothing that `v` depends on.
    pub(crate) fn skip(
        &mut self,
        seal: &mut dyn Seal,
        now: Millis,
        v: NodeIx,
        wave: Wave,
        cut: CutKind,
    ) -> Address {
        let wave = self.enter(v, wave, cut);
        let mut basis = self.basis(v, now, wave, cut);
        let node = &mut self.nodes[v.at()];
        basis.event = node.memo.as_ref().and_then(|memo| memo.event.clone());
        let waves = basis.waves;
        let causes = node.dirty.take(wave);
        node.forget_attempts();
        node.ready_since = None;
        node.stalled_since = None;
        node.waiting_for.clear();
        let draft = Draft::unchanged(node, basis, &causes, Status::Skipped);
        let address = self.seal(seal, v, draft);
        // The truth stands, but nobody knows it at the waves that were coalesced away.
        let node = &mut self.nodes[v.at()];
        if waves.at > waves.first
            && let Some(current) = node.current().cloned()
        {
            node.history.push(Version { waves, ..current });
        }
        self.touch(v);
        self.work.insert(v);
        self.revisit_below(v);
        address
    }

    /// The wave that a decision is made at. A mixture is of no wave that ever was, so it enters as a
    /// new one: what was decided above and below at earlier waves stays true. Whatever the busy
    /// ancestors publish later is later than the mixture.
    pub(crate) fn enter(&mut self, v: NodeIx, wave: Wave, cut: CutKind) -> Wave {
        if cut == CutKind::Exact {
            return wave;
        }
        self.wave += 1;
        self.nodes[v.at()].since = self.wave + 1;
        self.wave
    }

    /// What a decision about `v` at `wave` is made on, events left out.
    pub(crate) fn basis(&self, v: NodeIx, now: Millis, wave: Wave, cut: CutKind) -> Basis {
        let pins = self.pins(v, wave);
        let node = &self.nodes[v.at()];
        let first = node.dirty.lowest().unwrap_or(wave);
        // Events change a truth by themselves: it is in force only from the last one that is read.
        let since = node.inbox.newest(wave).unwrap_or(first).max(first);
        let (at, busy) = match cut {
            CutKind::Exact => (pins.in_force_from(since), Vec::new()),
            CutKind::Mixed => (self.wave, self.names(self.in_the_way(v))),
        };
        Basis {
            as_of: now,
            contract: self.graph.spec(v).contract.clone(),
            waves: Span { first, at },
            through: wave,
            cut,
            busy,
            pins: pins.to_vec(),
            event: None,
            freshness: node.freshness,
        }
    }

    /// Makes a truth current and wakes the readers of what moved.
    pub(crate) fn propagate(&mut self, v: NodeIx, moved: &[String], cause: Cause) {
        let graph = self.graph.clone();
        for subscriber in graph.subscribers(v) {
            let input = &graph.spec(subscriber.node).inputs[subscriber.input];
            if input.wakes && moved.contains(&input.source.facet) {
                self.mark(subscriber.node, cause.clone());
            }
        }
    }

    pub(crate) fn names(&self, nodes: Vec<NodeIx>) -> Vec<Arc<str>> {
        nodes.into_iter().map(|v| self.name(v).clone()).collect()
    }
}
