//! What a decision is made on: one moment of everything a node depends on.

use std::sync::Arc;

use prose_ir::{Address, Fingerprint};
use serde::{Deserialize, Serialize};

use crate::{Millis, Wave, graph::InputRef};

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

/// The first wave that was consumed, and the wave from which the outcome is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The lowest wave that was consumed.
    pub first: Wave,
    /// In force from here; not below `first`.
    pub at: Wave,
}

/// Whether all inputs were of one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CutKind {
    /// One consistent moment of everything above.
    Exact,
    /// The newest of everything, because patience ran out.
    Mixed,
}

/// What a render depends on: contract, inputs and freshness, nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemoKey {
    /// The contract.
    pub contract: Fingerprint,
    /// The waking inputs in resolved order.
    pub inputs: Vec<(Arc<InputRef>, Option<Fingerprint>)>,
    /// The events that were consumed, for a node that takes events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Fingerprint>,
    /// The freshness epoch.
    pub freshness: u64,
}
