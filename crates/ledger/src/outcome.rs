//! Why a render failed, and what a decision cost. Members stand in the order of their names.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a render failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Who can do something about it, where the failure asks for that.
    pub addressed_to: Option<String>,
    /// What kind of failure.
    pub class: FailureClass,
    /// What it asks for.
    pub needs: Option<Value>,
    /// What happened, in words for people.
    pub reason: String,
}

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The truth broke a postcondition.
    Postcondition,
    /// The render said that it failed.
    Render,
    /// The harness did not do its work, also after retries.
    Infrastructure,
    /// Somebody stopped it.
    Cancelled,
    /// The render asks for something only a person has.
    NeedsInput,
    /// A gateway refused an event.
    Event,
}

/// What a decision cost, and the change that caused it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// How long the session ran.
    pub duration_ms: u64,
    /// The harness that ran it; `none` where nothing ran.
    pub harness: String,
    /// The model it used, where it says so.
    pub model: Option<String>,
    /// The change that caused the cost.
    pub surprise_cause: SurpriseCause,
    /// Tokens spent.
    pub tokens: Tokens,
}

impl Cost {
    /// The cost of a decision for which nothing ran.
    pub fn nothing(surprise_cause: SurpriseCause) -> Self {
        Self {
            duration_ms: 0,
            harness: "none".to_owned(),
            model: None,
            surprise_cause,
            tokens: Tokens::default(),
        }
    }
}

/// Tokens of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// Newly processed.
    pub fresh: u64,
    /// Taken from a cache.
    pub reused: u64,
}

/// The change that caused a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SurpriseCause {
    /// A subscribed facet moved.
    Input,
    /// The truth went stale.
    Freshness,
    /// An event arrived.
    External,
    /// The contract changed.
    Contract,
    /// A failed render was tried again.
    Retry,
}
