//! Ingest: the outside world enters through a node that takes events.

use std::{collections::BTreeMap, sync::Arc};

use prose_ir::{Address, Fingerprint};

use super::mount::moved;
use crate::{
    Millis, NodeIx, Reactor,
    basis::{Basis, CutKind, Span},
    decision::{Failure, Status},
    draft::{Draft, Seal},
    graph::Role,
    ops::Published,
    pending::{Cause, CauseKind},
    state::Version,
};

/// One event for one node.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// The node it is for; one that takes events.
    pub node: NodeIx,
    /// The fingerprint of the event's canonical form.
    pub event: Fingerprint,
    /// For a passthrough gateway, the truth that the event makes, or why it makes none. Ignored
    /// (may be none) where the event is unmoved, and for nodes that render their events.
    pub truth: Option<Result<Published, Failure>>,
}

/// What became of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventOutcome {
    /// A passthrough gateway decided it at once.
    Decided {
        /// The receipt.
        receipt: Address,
        /// The decision.
        status: Status,
    },
    /// It waits for a render under this ordinal.
    Queued {
        /// Its place in the order of arrival at its node.
        ordinal: u64,
    },
}

impl Reactor {
    /// Whether `event` is the very event that the node's truth was made from, under the same
    /// contract: then its truth need not be worked out.
    pub fn is_repeated(&self, node: NodeIx, event: &Fingerprint) -> bool {
        let state = self.node(node);
        !state.has_failed()
            && state.memo.as_ref().is_some_and(|memo| {
                memo.event.as_ref() == Some(event)
                    && memo.contract == self.graph.spec(node).contract
                    && memo.freshness == state.freshness
            })
    }

    /// Takes in a batch of events under one new wave: a receipt or an ordinal for each, in order,
    /// and one wake for each subscriber.
    pub fn ingest(
        &mut self,
        seal: &mut dyn Seal,
        now: Millis,
        arrivals: Vec<Arrival>,
    ) -> Vec<EventOutcome> {
        if arrivals.is_empty() {
            return Vec::new();
        }
        self.wave += 1;
        let mut outcomes = Vec::with_capacity(arrivals.len());
        // What each gateway published before the batch: readers are woken by what moved over all of it.
        let mut before: BTreeMap<NodeIx, Option<Version>> = BTreeMap::new();
        for arrival in arrivals {
            let v = arrival.node;
            outcomes.push(match self.graph.spec(v).role {
                Role::Passthrough => {
                    before.entry(v).or_insert_with(|| self.nodes[v.at()].current().cloned());
                    self.pass_through(seal, now, arrival)
                }
                Role::Rendered | Role::External => self.enqueue(v, arrival.event),
            });
        }
        for (v, old) in before {
            self.wake_readers(v, old);
        }
        self.finish(seal, now);
        outcomes
    }

    fn enqueue(&mut self, v: NodeIx, event: Fingerprint) -> EventOutcome {
        let ordinal = self.nodes[v.at()].inbox.push(self.wave, &event);
        self.mark(v, Cause { wave: self.wave, kind: CauseKind::External, receipt: None });
        EventOutcome::Queued { ordinal }
    }

    fn pass_through(&mut self, seal: &mut dyn Seal, now: Millis, arrival: Arrival) -> EventOutcome {
        let Arrival { node, event, truth } = arrival;
        let truth = truth.filter(|_| !self.is_repeated(node, &event));
        let cause = Cause { wave: self.wave, kind: CauseKind::External, receipt: None };
        let (receipt, status) = self.publish_at_once(seal, now, node, Some(event), truth, cause);
        EventOutcome::Decided { receipt, status }
    }

    /// Decides a passthrough gateway under the newest wave; without a truth, nothing moved.
    pub(super) fn publish_at_once(
        &mut self,
        seal: &mut dyn Seal,
        now: Millis,
        v: NodeIx,
        event: Option<Fingerprint>,
        truth: Option<Result<Published, Failure>>,
        cause: Cause,
    ) -> (Address, Status) {
        let waves = Span { first: self.wave, at: self.wave };
        let basis = Basis {
            as_of: now,
            contract: self.graph.spec(v).contract.clone(),
            waves,
            through: self.wave,
            cut: CutKind::Exact,
            busy: Vec::new(),
            pins: Vec::new(),
            event,
            freshness: self.nodes[v.at()].freshness,
        };
        let node = &mut self.nodes[v.at()];
        let (draft, published) = match truth {
            Some(Err(failure)) => {
                let draft = Draft::unchanged(node, basis, &[cause], Status::Failed);
                (Draft { failure: Some(failure), ..draft }, None)
            }
            Some(Ok(truth)) => {
                let moved = moved(node.current(), &truth.fingerprints);
                node.memo = Some(basis.key());
                if moved.is_empty() {
                    (Draft::unchanged(node, basis, &[cause], Status::Skipped), None)
                } else {
                    let draft = Draft::unchanged(node, basis, &[cause], Status::Rendered);
                    let tokens = Arc::new(truth.fingerprints);
                    let draft = Draft {
                        moved,
                        fingerprints: tokens.clone(),
                        tree: Some(truth.tree.clone()),
                        ..draft
                    };
                    (draft, Some((truth.tree, tokens)))
                }
            }
            None => (Draft::unchanged(node, basis, &[cause], Status::Skipped), None),
        };
        let status = draft.status;
        let receipt = self.seal(seal, v, draft);
        if let Some((tree, fingerprints)) = published {
            let version = Version { waves, receipt: receipt.clone(), tree, fingerprints };
            let history = &mut self.nodes[v.at()].history;
            // Within one wave only the last truth was ever in force.
            if history.last().is_some_and(|last| last.waves.at == self.wave) {
                history.pop();
            }
            history.push(version);
            self.touch(v);
        }
        (receipt, status)
    }

    pub(super) fn wake_readers(&mut self, v: NodeIx, before: Option<Version>) {
        let Some(current) = self.nodes[v.at()].current() else {
            return;
        };
        let moved = moved(before.as_ref(), &current.fingerprints);
        let receipt = Some(current.receipt.clone());
        let cause = Cause { wave: self.wave, kind: CauseKind::Input, receipt };
        self.propagate(v, &moved, cause);
    }
}
