//! The state of one node. Serialized as a whole into the store's `nodes` table.

use std::{collections::BTreeMap, sync::Arc};

use prose_ir::{Address, Fingerprint};
use serde::{Deserialize, Serialize};

use crate::{
    Millis, Wave,
    basis::{Basis, MemoKey, Span},
    decision::{Cost, Status},
    inbox::Inbox,
    pending::{Cause, Pending},
};

/// Everything the core knows of a node besides its place in the graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NodeState {
    /// Earlier waves are no longer its own: they were before its contract, passed while it waited for
    /// another attempt, or a render on a mixture has spoken for them. A wake at such a wave counts as one at this wave.
    pub since: Wave,
    /// What the last rendered or skipped receipt was decided on.
    pub memo: Option<MemoKey>,
    /// What the last receipt decided. After a failure the memo does not count.
    pub last: Option<Status>,
    /// Whether an operator wants a render even if nothing moved.
    pub forced: bool,
    /// The truths that a dirty node can still need, ascending; the last one is the current truth.
    pub history: Vec<Version>,
    /// Rises by one at each lapse of freshness.
    pub freshness: u64,
    /// What there is to do.
    pub dirty: Pending,
    /// The running render.
    pub flight: Option<Flight>,
    /// The highest fence ever issued; never falls, not even when the node is retired.
    pub fence: u64,
    /// The wait for another attempt after an infrastructure failure.
    pub retry: Option<Retry>,
    /// Attempts that have failed at the wake that is pending again, and what they have spent.
    pub pending_attempt: Option<(u32, Cost)>,
    /// Since when a render is due and nobody has claimed it.
    pub ready_since: Option<Millis>,
    /// Since when gaps above deny it a cut.
    pub stalled_since: Option<Millis>,
    /// Required inputs that were never published, by their place among the inputs.
    pub waiting_for: Vec<usize>,
    /// Events that have arrived and are not yet consumed.
    pub inbox: Inbox,
    /// The length of its chain of receipts.
    pub seq: u64,
    /// The newest receipt.
    pub head: Option<Address>,
    /// Whether it is no longer in the graph; its ledger stays readable.
    pub retired: bool,
}

impl NodeState {
    /// The truth that stands now.
    pub fn current(&self) -> Option<&Version> {
        self.history.last()
    }

    /// The wake that failed attempts were made at is gone; what they have spent is still owed to
    /// the next receipt of a render.
    pub(crate) fn forget_attempts(&mut self) {
        if let Some((attempts, _)) = &mut self.pending_attempt {
            *attempts = 0;
        }
    }

    /// Whether the last receipt is a failure.
    pub fn has_failed(&self) -> bool {
        self.last == Some(Status::Failed)
    }

    /// Whether a retry lies ahead: the node then counts as settled, its prior truth stands.
    pub fn is_parked(&self) -> bool {
        self.retry.is_some()
    }

    /// The lowest wave that is pending or in flight.
    pub fn unsettled(&self) -> Option<Wave> {
        if self.is_parked() {
            return None;
        }
        let flying = self.flight.as_ref().map(|f| f.basis.waves.first);
        self.dirty.lowest().into_iter().chain(flying).min()
    }
}

/// One truth and the waves it covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Version {
    /// In force from this wave; for the waves `first..at` nobody knows the truth.
    pub waves: Span,
    /// The receipt that published or confirmed it.
    pub receipt: Address,
    /// Its tree.
    pub tree: Address,
    /// Its tokens; always has `@atomic`.
    pub fingerprints: Arc<BTreeMap<String, Fingerprint>>,
}

/// A running render.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flight {
    /// The number that makes a late commit harmless.
    pub fence: u64,
    /// Who renders.
    pub worker: String,
    /// When the lease ends unless it is extended.
    pub expires_at: Millis,
    /// What it was started on.
    pub basis: Basis,
    /// The events it reads: ordinals from the first up to, not including, the second.
    pub events: (u64, u64),
    /// Why it runs.
    pub causes: Vec<Cause>,
    /// Whether an operator forced it.
    pub forced: bool,
    /// Which attempt at this wake it is, from one.
    pub attempt: u32,
    /// What earlier attempts have spent.
    pub spent: Cost,
}

/// A wake that waits for another attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Retry {
    /// How many attempts have failed.
    pub attempts: u32,
    /// The next one may not start before.
    pub not_before: Millis,
    /// Why the last one failed.
    pub reason: String,
    /// What the attempts have spent.
    pub spent: Cost,
    /// The wakes it owes, those that arrived meanwhile included; they get a new wave.
    pub causes: Vec<Cause>,
}
