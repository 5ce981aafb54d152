//! Commit: what a render came to. Refused, changing nothing, unless the fence is the flight's.

use std::{collections::BTreeMap, sync::Arc};

use prose_ir::{Address, Fingerprint};

use super::mount::moved;
use crate::{
    Millis, NodeIx, Reactor,
    decision::{Cost, Failure, FailureClass, Status},
    draft::{Draft, Seal},
    pending::{Cause, CauseKind},
    reactor::RETRY_CAUSES_MAX,
    state::{Flight, Retry, Version},
};

/// A truth that has passed canonicalizer and gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Its tree.
    pub tree: Address,
    /// Its tokens; always has `@atomic`.
    pub fingerprints: BTreeMap<String, Fingerprint>,
}

/// What a render came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A truth that may be published.
    Rendered {
        /// The truth.
        truth: Published,
        /// For readers.
        diff: Option<String>,
        /// What it cost.
        cost: Cost,
    },
    /// The render or the gate said no: final.
    Failed {
        /// Why.
        failure: Failure,
        /// What it cost.
        cost: Cost,
    },
    /// The harness did not do its work: tried again, up to a limit.
    Infrastructure {
        /// Why, in words for people.
        reason: String,
        /// What it cost.
        cost: Cost,
    },
}

/// A commit that changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// The lease is gone: expired, cancelled, or discarded by a new epoch.
    #[error("no render with fence {fence} is in flight")]
    StaleFence {
        /// The fence that came.
        fence: u64,
    },
}

impl Reactor {
    /// The flight that a commit with `fence` would end.
    ///
    /// # Errors
    /// When there is none: such a commit changes nothing.
    pub fn flight(&self, v: NodeIx, fence: u64) -> Result<&Flight, CommitError> {
        let flight = self.nodes[v.at()].flight.as_ref().filter(|f| f.fence == fence);
        flight.ok_or(CommitError::StaleFence { fence })
    }

    /// Ends a render. Answers with its receipt, or none where it will be tried again.
    ///
    /// # Errors
    /// When the fence is not that of the flight; nothing has changed then.
    pub fn commit(
        &mut self,
        seal: &mut dyn Seal,
        now: Millis,
        v: NodeIx,
        fence: u64,
        outcome: Outcome,
    ) -> Result<Option<Address>, CommitError> {
        let flight = self.flight(v, fence)?.clone();
        self.nodes[v.at()].flight = None;
        let receipt = self.land(seal, now, v, flight, outcome);
        self.finish(seal, now);
        Ok(receipt)
    }

    /// Writes down what a flight came to; the flight is already taken off the node.
    pub(super) fn land(
        &mut self,
        seal: &mut dyn Seal,
        now: Millis,
        v: NodeIx,
        flight: Flight,
        outcome: Outcome,
    ) -> Option<Address> {
        let receipt = match outcome {
            Outcome::Rendered { truth, diff, cost } => {
                Some(self.publish(seal, v, flight, truth, diff, cost))
            }
            Outcome::Failed { failure, cost } => Some(self.fail(seal, v, flight, failure, cost)),
            Outcome::Infrastructure { reason, cost } => {
                self.infrastructure(seal, now, v, flight, reason, cost)
            }
        };
        self.touch(v);
        self.work.insert(v);
        self.revisit_below(v);
        receipt
    }

    fn publish(
        &mut self,
        seal: &mut dyn Seal,
        v: NodeIx,
        flight: Flight,
        truth: Published,
        diff: Option<String>,
        mut cost: Cost,
    ) -> Address {
        cost.add(&flight.spent);
        let waves = flight.basis.waves;
        let node = &mut self.nodes[v.at()];
        node.memo = Some(flight.basis.key());
        node.inbox.consume(flight.events.1);
        let moved = moved(node.current(), &truth.fingerprints);
        let tokens = Arc::new(truth.fingerprints);
        let draft = Draft {
            fingerprints: tokens.clone(),
            moved: moved.clone(),
            tree: Some(truth.tree.clone()),
            diff,
            cost,
            ..Draft::unchanged(node, flight.basis, &flight.causes, Status::Rendered)
        };
        let receipt = self.seal(seal, v, draft);
        self.nodes[v.at()].history.push(Version {
            waves,
            receipt: receipt.clone(),
            tree: truth.tree,
            fingerprints: tokens,
        });
        let cause =
            Cause { wave: waves.at, kind: CauseKind::Input, receipt: Some(receipt.clone()) };
        self.propagate(v, &moved, cause);
        receipt
    }

    /// The prior truth stands. Events that were read stay unread: the next wake sees them again.
    pub(super) fn fail(
        &mut self,
        seal: &mut dyn Seal,
        v: NodeIx,
        flight: Flight,
        failure: Failure,
        mut cost: Cost,
    ) -> Address {
        cost.add(&flight.spent);
        let node = &mut self.nodes[v.at()];
        let draft = Draft {
            failure: Some(failure),
            cost,
            ..Draft::unchanged(node, flight.basis, &flight.causes, Status::Failed)
        };
        self.seal(seal, v, draft)
    }

    fn infrastructure(
        &mut self,
        seal: &mut dyn Seal,
        now: Millis,
        v: NodeIx,
        flight: Flight,
        reason: String,
        mut cost: Cost,
    ) -> Option<Address> {
        if flight.attempt >= self.policy.attempts_max {
            let tries = flight.attempt;
            let reason = format!("{reason} (attempt {tries} of {tries})");
            let failure = Failure::new(FailureClass::Infrastructure, reason);
            return Some(self.fail(seal, v, flight, failure, cost));
        }
        cost.add(&flight.spent);
        let not_before = now + self.policy.backoff(flight.attempt, flight.fence);
        let node = &mut self.nodes[v.at()];
        node.forced |= flight.forced;
        let mut causes = flight.causes;
        causes.extend(node.dirty.take_all());
        causes.truncate(RETRY_CAUSES_MAX);
        node.retry =
            Some(Retry { attempts: flight.attempt, not_before, reason, spent: cost, causes });
        None
    }
}
