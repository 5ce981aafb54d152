//! The vocabulary of decisions: what was decided, why it failed, what it cost and who is charged.

use serde::{Deserialize, Serialize};

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
