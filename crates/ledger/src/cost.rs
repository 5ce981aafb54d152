//! What a ledger cost, by node and by cause.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Receipt, Status, SurpriseCause};

/// Decisions and tokens counted together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Receipts with this status.
    pub rendered: u64,
    /// Receipts with this status.
    pub skipped: u64,
    /// Receipts with this status.
    pub failed: u64,
    /// Fresh tokens.
    pub fresh: u64,
    /// Reused tokens.
    pub reused: u64,
}

/// The cost of one node, or of all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeCost {
    /// Everything.
    pub total: Tally,
    /// The same, split by the change that caused it: the parts add up to the total.
    pub by_cause: BTreeMap<SurpriseCause, Tally>,
}

/// The cost of a ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostSummary {
    /// All nodes together.
    pub all: NodeCost,
    /// Each node that has a receipt.
    pub nodes: BTreeMap<String, NodeCost>,
}

impl CostSummary {
    /// The summary of `receipts`.
    pub fn of<'a>(receipts: impl IntoIterator<Item = &'a Receipt>) -> Self {
        let mut summary = Self::default();
        receipts.into_iter().for_each(|receipt| summary.add(receipt));
        summary
    }

    /// Counts one more receipt.
    pub fn add(&mut self, receipt: &Receipt) {
        self.all.add(receipt);
        if let Some(node) = self.nodes.get_mut(&receipt.node) {
            node.add(receipt);
        } else {
            let node = self.nodes.entry(receipt.node.clone()).or_default();
            node.add(receipt);
        }
    }
}

impl NodeCost {
    fn add(&mut self, receipt: &Receipt) {
        self.total.add(receipt);
        let cause = receipt.cost.surprise_cause;
        self.by_cause.entry(cause).or_default().add(receipt);
    }
}

impl Tally {
    fn add(&mut self, receipt: &Receipt) {
        let count = match receipt.status {
            Status::Rendered => &mut self.rendered,
            Status::Skipped => &mut self.skipped,
            Status::Failed => &mut self.failed,
        };
        *count += 1;
        let tokens = receipt.cost.tokens;
        self.fresh = self.fresh.saturating_add(tokens.fresh);
        self.reused = self.reused.saturating_add(tokens.reused);
    }
}
