//! The record of one decision.
//!
//! Members are declared in the order of their names: written as they stand they are canonical
//! JSON, which is what makes sealing cheap (see `canonical`).

use std::collections::BTreeMap;

use prose_ir::{Address, Fingerprint};
use serde::{Deserialize, Serialize};

use crate::{Cost, Failure, Kind, Moment, ReceiptError, Tokens, Version, canonical};

/// Everything a receipt says, except its signature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// When the inputs were pinned.
    pub as_of: Moment,
    /// The ancestors that were busy; only for a mixed cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busy: Vec<String>,
    /// The contract the decision was made under.
    pub contract_fingerprint: Fingerprint,
    /// What it cost, and why.
    pub cost: Cost,
    /// Whether the inputs are of one moment.
    pub cut: Cut,
    /// The mounted version of the reactor's manifest.
    pub epoch: u64,
    /// Why the render failed; there exactly when `status` is failed.
    pub failure: Option<Failure>,
    /// Facet to token of the published truth; carried forward where nothing was published.
    #[serde(serialize_with = "canonical::by_utf16")]
    pub fingerprints: BTreeMap<String, Fingerprint>,
    /// How often the node's freshness has lapsed.
    pub freshness_epoch: u64,
    /// The pinned inputs, in resolved order.
    pub input_fingerprints: Vec<InputFingerprint>,
    /// Says that this is a receipt.
    pub kind: Kind,
    /// The facets whose tokens moved; empty unless rendered.
    pub moved: Vec<String>,
    /// The node.
    pub node: String,
    /// The node's receipt before this one; null for the first.
    pub prev: Option<Address>,
    /// The reactor.
    pub reactor: String,
    /// What changed, for readers; never a wake signal.
    pub semantic_diff: Option<String>,
    /// Position in the node's chain, from 1.
    pub seq: u64,
    /// What was decided.
    pub status: Status,
    /// The form of the receipt.
    pub version: Version,
    /// Why the node was reconciled.
    pub wake: Wake,
    /// The waves it consumed.
    pub waves: Waves,
    /// The published tree; null before the first.
    pub world_model: Option<Address>,
}

/// What a reconciliation came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A session ran and its truth was published.
    Rendered,
    /// Nothing that counts had moved; no session ran.
    Skipped,
    /// The prior truth stands.
    Failed,
}

/// Whether a decision's inputs are of one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cut {
    /// They are.
    Exact,
    /// Patience ran out: the newest versions were taken while ancestors were busy.
    Mixed,
}

/// What was consumed: all pending waves from `first` on, in force from `at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waves {
    /// The wave from which the truth is in force.
    pub at: u64,
    /// The lowest wave that was pending.
    pub first: u64,
}

/// Why a node was reconciled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wake {
    /// The receipts that woke it.
    pub refs: Vec<Address>,
    /// Where the wake came from.
    pub source: WakeSource,
}

/// Where a wake came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WakeSource {
    /// A subscribed facet moved.
    Input,
    /// The node's own clock.
    #[serde(rename = "self")]
    Own,
    /// The outside world: an event, a mount, a person.
    External,
}

/// One pinned input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputFingerprint {
    /// The facet of the producer.
    pub facet: String,
    /// Its token; null where the producer has not published it.
    pub fingerprint: Option<Fingerprint>,
    /// The need it satisfies.
    pub need: String,
    /// The producing node.
    pub producer: String,
    /// The producer's receipt that published it; null where there is none.
    pub receipt: Option<Address>,
}

impl Receipt {
    /// Checks what must hold of every receipt, whoever wrote it.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), ReceiptError> {
        self.check_numbers()?;
        self.check_needs()?;
        let tokens = self.cost.tokens;
        let rules = [
            (self.seq > 0, "`seq` begins with 1"),
            (
                (self.seq == 1) == self.prev.is_none(),
                "exactly the first receipt of a node has no `prev`",
            ),
            (
                (self.status == Status::Failed) == self.failure.is_some(),
                "exactly a failed receipt has a `failure`",
            ),
            (
                self.status == Status::Rendered || self.moved.is_empty(),
                "only a rendered receipt moves facets",
            ),
            (
                self.status != Status::Skipped || tokens == Tokens::default(),
                "a skipped receipt costs no tokens",
            ),
            (
                self.cut == Cut::Mixed || self.busy.is_empty(),
                "only a mixed cut names busy ancestors",
            ),
            (
                self.waves.first <= self.waves.at,
                "a truth is in force from its first wave on or later",
            ),
        ];
        match rules.into_iter().find(|(holds, _)| !holds) {
            None => Ok(()),
            Some((_, rule)) => Err(ReceiptError::Inconsistent(rule)),
        }
    }

    /// The one free-form part must be readable again by the strict reader.
    fn check_needs(&self) -> Result<(), ReceiptError> {
        let Some(needs) = self.failure.as_ref().and_then(|f| f.needs.as_ref()) else {
            return Ok(());
        };
        prose_truth::json::strict::parse(&prose_truth::json::canonical(needs))
            .map(drop)
            .map_err(|error| ReceiptError::Malformed(format!("`failure.needs`: {error}")))
    }

    /// Beyond 2^53-1 canonical JSON would round.
    fn check_numbers(&self) -> Result<(), ReceiptError> {
        let numbers = [
            ("cost.duration_ms", self.cost.duration_ms),
            ("cost.tokens.fresh", self.cost.tokens.fresh),
            ("cost.tokens.reused", self.cost.tokens.reused),
            ("epoch", self.epoch),
            ("freshness_epoch", self.freshness_epoch),
            ("seq", self.seq),
            ("waves.at", self.waves.at),
            ("waves.first", self.waves.first),
        ];
        match numbers.into_iter().find(|(_, number)| *number > prose_truth::json::MAX_SAFE_INTEGER)
        {
            None => Ok(()),
            Some((field, _)) => Err(ReceiptError::NumberRange(field)),
        }
    }
}
