//! What a node is doing now, and what it waits for.

use std::sync::Arc;

use crate::{Millis, NodeIx, Reactor, Wave, cut::Look, graph::InputRef};

/// The condition of a node at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Nothing to do.
    Idle,
    /// A render runs.
    InFlight {
        /// Who renders.
        worker: String,
        /// When its lease ends.
        expires_at: Millis,
        /// The attempt, from one.
        attempt: u32,
    },
    /// Due, and no worker has claimed it.
    Ready {
        /// Since when.
        since: Millis,
    },
    /// An attempt failed; another one follows.
    Backoff {
        /// Not before.
        not_before: Millis,
        /// How many attempts have failed.
        attempts: u32,
        /// Why the last one failed.
        reason: String,
    },
    /// Cannot be decided yet.
    Waiting(Waiting),
}

/// What a node waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waiting {
    /// Inputs that were never published.
    Inputs(Vec<Arc<InputRef>>),
    /// Ancestors that are unsettled at or before its lowest pending wave.
    Unsettled {
        /// The lowest pending wave.
        wave: Wave,
        /// The ancestors.
        ancestors: Vec<Arc<str>>,
    },
    /// Ancestors whose gaps do not line up.
    Gaps {
        /// The lowest pending wave.
        wave: Wave,
        /// The ancestors.
        ancestors: Vec<Arc<str>>,
        /// When it will render on a mixture.
        until: Millis,
    },
}

impl Reactor {
    /// What a node is doing now.
    pub fn condition(&self, v: NodeIx) -> Condition {
        let node = self.node(v);
        if let Some(flight) = &node.flight {
            return Condition::InFlight {
                worker: flight.worker.clone(),
                expires_at: flight.expires_at,
                attempt: flight.attempt,
            };
        }
        if let Some(retry) = &node.retry {
            return Condition::Backoff {
                not_before: retry.not_before,
                attempts: retry.attempts,
                reason: retry.reason.clone(),
            };
        }
        if let Some(since) = node.ready_since {
            return Condition::Ready { since };
        }
        if !node.waiting_for.is_empty() {
            let inputs = &self.graph().spec(v).inputs;
            let missing = node.waiting_for.iter().filter_map(|i| inputs.get(*i));
            let missing = missing.map(|i| i.source.clone()).collect();
            return Condition::Waiting(Waiting::Inputs(missing));
        }
        let wave = node.dirty.lowest().unwrap_or(0);
        let ancestors = || self.names(self.in_the_way(v));
        match self.look(v) {
            Look::Unsettled => {
                Condition::Waiting(Waiting::Unsettled { wave, ancestors: ancestors() })
            }
            Look::Gaps => {
                let until = node.stalled_since.unwrap_or(0) + self.policy().patience_ms;
                Condition::Waiting(Waiting::Gaps { wave, ancestors: ancestors(), until })
            }
            Look::Idle | Look::At(_) => Condition::Idle,
        }
    }
}
