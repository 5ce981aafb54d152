//! What the core says of one decision, before it is chained, signed and stored.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use prose_ir::{Address, Fingerprint};

use crate::{
    basis::Basis,
    decision::{Cost, Failure, Status, Surprise, WakeSource},
    pending::{Cause, CauseKind},
    state::NodeState,
};

/// Turns decisions into receipts. The engine signs and collects them; tests number them.
pub trait Seal {
    /// Makes the receipt of `draft` and answers with its address. Called in ledger order.
    fn seal(&mut self, place: Place, draft: Draft) -> Address;
}

/// The place of a decision in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The node.
    pub node: Arc<str>,
    /// The epoch it was decided in.
    pub epoch: u64,
    /// The place in the node's chain, from one.
    pub seq: u64,
    /// The receipt before it.
    pub prev: Option<Address>,
}

/// One decision about one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// What it was decided on.
    pub basis: Basis,
    /// The decision.
    pub status: Status,
    /// Who woke the node.
    pub wake_source: WakeSource,
    /// The receipts that woke it.
    pub wake_refs: Vec<Address>,
    /// The surprise that the cost is charged to.
    pub surprise: Surprise,
    /// The tokens of the truth that stands after this decision.
    pub fingerprints: Arc<BTreeMap<String, Fingerprint>>,
    /// The facets whose token moved.
    pub moved: Vec<String>,
    /// The tree of the truth that stands after this decision.
    pub tree: Option<Address>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// For readers, never a wake signal.
    pub diff: Option<String>,
    /// What it cost.
    pub cost: Cost,
}

impl Draft {
    /// A decision that leaves the truth of `node` as it is.
    pub(crate) fn unchanged(
        node: &NodeState,
        basis: Basis,
        causes: &[Cause],
        status: Status,
    ) -> Self {
        let (surprise, wake_source) = wake(causes);
        let current = node.current();
        Self {
            basis,
            status,
            wake_source,
            wake_refs: refs(causes),
            surprise,
            fingerprints: current.map(|c| c.fingerprints.clone()).unwrap_or_default(),
            moved: Vec::new(),
            tree: current.map(|c| c.tree.clone()),
            failure: None,
            diff: None,
            cost: Cost::default(),
        }
    }
}

/// The surprise a wake is charged to, and who emitted it: the strongest of its causes.
pub(crate) fn wake(causes: &[Cause]) -> (Surprise, WakeSource) {
    let kind = causes.iter().map(|c| c.kind).min().unwrap_or(CauseKind::External);
    let source = match kind {
        CauseKind::Contract | CauseKind::Input => WakeSource::Input,
        CauseKind::External | CauseKind::Retry => WakeSource::External,
    };
    (kind.surprise(), source)
}

/// The receipts that gave the causes, each once.
pub(crate) fn refs(causes: &[Cause]) -> Vec<Address> {
    let mut seen = BTreeSet::new();
    causes.iter().filter_map(|c| c.receipt.clone()).filter(|r| seen.insert(r.clone())).collect()
}
