//! Claim: a worker gets the lease of a ready node, with its inputs pinned at the newest cut.

use prose_ir::Address;

use crate::{
    Millis, NodeIx, Reactor,
    basis::{Basis, CutKind},
    cut::Look,
    decision::{Surprise, WakeSource},
    draft::{Seal, refs, wake},
    state::Flight,
};

/// The answer to a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The node is the worker's to render.
    Leased(Box<Lease>),
    /// Nothing that the node depends on moved after all; here is the receipt that says so.
    Skipped(Address),
    /// Somebody else renders it.
    InFlight,
    /// There is nothing to do now: not dirty, no cut, an input missing, or a retry lies ahead.
    NothingToDo,
}

/// A worker's right to render a node until it expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Must come back with heartbeats and the commit.
    pub fence: u64,
    /// When the lease ends unless it is extended.
    pub expires_at: Millis,
    /// What to render on.
    pub basis: Basis,
    /// The events to read: ordinals from the first up to, not including, the second.
    pub events: (u64, u64),
    /// The surprise that its cost will be charged to.
    pub surprise: Surprise,
    /// Who woke the node.
    pub wake_source: WakeSource,
    /// The receipts that woke it.
    pub wake_refs: Vec<Address>,
    /// Which attempt at this wake it is, from one.
    pub attempt: u32,
}

impl Reactor {
    /// Leases `node` to `worker`, taking the waves up to the newest cut.
    pub fn claim(&mut self, seal: &mut dyn Seal, now: Millis, v: NodeIx, worker: &str) -> Claim {
        if self.nodes[v.at()].flight.is_some() {
            return Claim::InFlight;
        }
        let Some((wave, cut)) = self.claimable(now, v) else {
            return Claim::NothingToDo;
        };
        if !self.pins(v, wave).missing().is_empty() {
            self.work.insert(v);
            self.finish(seal, now);
            return Claim::NothingToDo;
        }
        if self.is_unmoved(v, wave) {
            let receipt = self.skip(seal, now, v, wave, cut);
            self.finish(seal, now);
            return Claim::Skipped(receipt);
        }
        let lease = self.lease(now, v, worker, wave, cut);
        self.finish(seal, now);
        Claim::Leased(Box::new(lease))
    }

    fn claimable(&self, now: Millis, v: NodeIx) -> Option<(crate::Wave, CutKind)> {
        let node = &self.nodes[v.at()];
        if node.is_parked() {
            return None;
        }
        match self.look(v) {
            Look::At(wave) => Some((wave, CutKind::Exact)),
            Look::Gaps => {
                let since = node.stalled_since?;
                (now - since >= self.policy.patience_ms).then_some((self.wave, CutKind::Mixed))
            }
            Look::Idle | Look::Unsettled => None,
        }
    }

    fn lease(
        &mut self,
        now: Millis,
        v: NodeIx,
        worker: &str,
        wave: crate::Wave,
        cut: CutKind,
    ) -> Lease {
        let wave = self.enter(v, wave, cut);
        let mut basis = self.basis(v, now, wave, cut);
        let expires_at = now + self.policy.lease_ms;
        let node = &mut self.nodes[v.at()];
        let events = node.inbox.readable(wave);
        basis.event = node.inbox.digest(wave);
        let causes = node.dirty.take(wave);
        let (attempts, spent) = node.pending_attempt.take().unwrap_or_default();
        node.fence += 1;
        node.ready_since = None;
        node.stalled_since = None;
        let flight = Flight {
            fence: node.fence,
            worker: worker.to_owned(),
            expires_at,
            basis: basis.clone(),
            events,
            causes,
            forced: std::mem::take(&mut node.forced),
            attempt: attempts + 1,
            spent,
        };
        let (surprise, wake_source) = wake(&flight.causes);
        let lease = Lease {
            fence: flight.fence,
            expires_at,
            basis,
            events,
            surprise,
            wake_source,
            wake_refs: refs(&flight.causes),
            attempt: flight.attempt,
        };
        node.flight = Some(flight);
        self.touch(v);
        lease
    }

    /// Extends a lease. Answers with its new end, or none where the worker has to stop: another
    /// holds the node, or it was cancelled or retired.
    pub fn heartbeat(&mut self, now: Millis, v: NodeIx, fence: u64) -> Option<Millis> {
        let lease_ms = self.policy.lease_ms;
        let flight = self.nodes[v.at()].flight.as_mut().filter(|f| f.fence == fence)?;
        flight.expires_at = flight.expires_at.max(now + lease_ms);
        let expires_at = flight.expires_at;
        self.touch(v);
        Some(expires_at)
    }
}
