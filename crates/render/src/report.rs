//! What a worker hands in for one render.

use std::collections::BTreeMap;
use std::time::Duration;

use prose_harness::{Outcome, SessionFailure, Status};
use prose_truth::Files;
use serde_json::Value;

/// The outcome of one render and what it cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What came of it.
    pub verdict: Verdict,
    /// What it cost, whatever came of it.
    pub cost: Cost,
}

/// What came of a render.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// A new truth for the gate.
    Rendered {
        /// The truth.
        files: Files,
        /// The session's word on the conditions it was asked to attest.
        attestations: BTreeMap<String, bool>,
        /// What changed, for readers.
        diff: Option<String>,
    },
    /// The session could not do what the contract asks. Final until something changes.
    Failed {
        /// Why.
        reason: String,
        /// What it asks of a person.
        needs: Option<Value>,
    },
    /// There was no session to speak of. Tried again with backoff.
    Infrastructure(Infrastructure),
}

/// Why there was no session to speak of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Infrastructure {
    /// A stable name for the kind of failure.
    pub code: String,
    /// For people; ends with the tail of the session's output where there is one.
    pub reason: String,
}

/// What a render cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cost {
    /// The harness that ran.
    pub harness: String,
    /// The model that answered, if there was one.
    pub model: Option<String>,
    /// Tokens paid in full.
    pub fresh_tokens: u64,
    /// Tokens served from a cache.
    pub reused_tokens: u64,
    /// How long it ran.
    pub duration: Duration,
}

impl Verdict {
    pub(crate) fn infrastructure(code: &str, reason: String) -> Self {
        Self::Infrastructure(Infrastructure { code: code.to_owned(), reason })
    }
}

impl From<SessionFailure> for Verdict {
    fn from(failure: SessionFailure) -> Self {
        Self::infrastructure(failure.code.as_str(), failure.explain())
    }
}

impl From<Outcome> for Verdict {
    fn from(outcome: Outcome) -> Self {
        match outcome.status {
            Status::Rendered => Self::Rendered {
                files: outcome.published,
                attestations: outcome.attestations,
                diff: outcome.diff,
            },
            Status::Failed => {
                Self::Failed { reason: outcome.reason.unwrap_or_default(), needs: outcome.needs }
            }
        }
    }
}
