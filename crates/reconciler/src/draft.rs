//! What the core says of one decision, before it is chained, signed and stored.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use prose_ir::{Address, Fingerprint};
use serde::{Deserialize, Serialize};

use crate::{
    Millis, Wave,
    graph::InputRef,
    pending::{Cause, CauseKind},
    state::{CutKind, MemoKey, NodeState, Span},
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

/// What a decision was made on: one moment of everything a node depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Basis {
    /// When the inputs were pinned.
    pub as_of: Millis,
    /// Under which contract.
    pub contract: Fingerprint,
    /// The waves it consumes, and from when the outcome is in force.
    pub waves: Span,
    /// The wave of the cut: every pending wave up to here is consumed.
    pub through: Wave,
    /// Whether the inputs are of one moment.
    pub cut: CutKind,
    /// For a mixed cut, the ancestors that were busy.
    pub busy: Vec<Arc<str>>,
    /// What is read.
    pub pins: Vec<Pin>,
    /// The fingerprint of the events that are read, for a node that takes events.
    pub event: Option<Fingerprint>,
    /// The freshness epoch.
    pub freshness: u64,
}

impl Basis {
    pub(crate) fn key(&self) -> MemoKey {
        let waking = self.pins.iter().filter(|p| p.wakes);
        MemoKey {
            contract: self.contract.clone(),
            inputs: waking.map(|p| (p.source.clone(), p.fingerprint.clone())).collect(),
            event: self.event.clone(),
            freshness: self.freshness,
        }
    }
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

/// One input as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pin {
    /// What was read.
    pub source: Arc<InputRef>,
    /// Its token; none for an optional input that was never published.
    pub fingerprint: Option<Fingerprint>,
    /// The receipt that published it.
    pub receipt: Option<Address>,
    /// The published tree.
    pub tree: Option<Address>,
    /// Whether it counts in the memo key.
    pub wakes: bool,
}

/// The three decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A session ran and its truth was published.
    Rendered,
    /// Nothing material moved.
    Skipped,
    /// The prior truth stands.
    Failed,
}

/// Who emitted a wake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WakeSource {
    /// A producer's receipt, or that of the topology.
    Input,
    /// The node's own clock.
    #[serde(rename = "self")]
    Own,
    /// The outside world.
    External,
}

/// Which surprise a cost is charged to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Surprise {
    /// The contract changed.
    Contract,
    /// Something happened outside.
    External,
    /// An input moved.
    Input,
    /// A person asked to try again.
    Retry,
}

/// Why a decision is a failure.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Failure {
    /// What kind.
    pub class: FailureClass,
    /// In words for people.
    pub reason: String,
    /// Who can help, where the render said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addressed_to: Option<String>,
    /// What is needed from them, as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

impl Failure {
    /// A failure that nobody in particular is asked about.
    pub fn new(class: FailureClass, reason: impl Into<String>) -> Self {
        Self { class, reason: reason.into(), addressed_to: None, needs: None }
    }
}

/// The kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The gate refused the truth.
    Postcondition,
    /// The render itself said so.
    Render,
    /// The harness was missing, crashed or ran out of time, as often as is allowed.
    Infrastructure,
    /// A person stopped it.
    Cancelled,
    /// A person is needed.
    NeedsInput,
    /// An event that could not become a truth.
    Event,
}

/// What a decision cost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cost {
    /// The harness that ran, none when nothing ran.
    pub harness: Option<String>,
    /// The model it used, where it says so.
    pub model: Option<String>,
    /// Tokens spent on this decision.
    pub fresh: u64,
    /// Tokens that a cache served.
    pub reused: u64,
    /// How long the session took.
    pub duration_ms: u64,
}

impl Cost {
    /// Adds what an earlier attempt at the same wake has spent. An attempt that ended without a word,
    /// as when a lease expires, goes by the names of the earlier one.
    pub(crate) fn add(&mut self, earlier: &Cost) {
        if self.harness.is_none() {
            self.harness.clone_from(&earlier.harness);
            self.model.clone_from(&earlier.model);
        }
        self.fresh = self.fresh.saturating_add(earlier.fresh);
        self.reused = self.reused.saturating_add(earlier.reused);
        self.duration_ms = self.duration_ms.saturating_add(earlier.duration_ms);
    }
}
