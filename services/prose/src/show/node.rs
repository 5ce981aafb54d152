//! A node's state in words and as JSON.

use prose_api::v1::{Condition, NodeStatus, condition::Kind};
use serde_json::{Value, json};

use super::{ago, clean};

/// What a node is doing, for programs.
pub(crate) fn document(node: &NodeStatus) -> Value {
    let condition = node.condition.clone().unwrap_or_default();
    json!({
        "name": node.name,
        "role": node.role,
        "condition": {
            "kind": kind(&condition),
            "waits_for": condition.waits_for,
            "until_ms": (condition.until_ms != 0).then_some(condition.until_ms),
            "worker": text(&condition.worker),
            "attempt": (condition.attempt != 0).then_some(condition.attempt),
            "reason": text(&condition.reason),
        },
        "receipts": node.seq,
        "head": text(&node.head),
        "last_status": text(&node.last_status),
        "tree": text(&node.tree),
        "truth_receipt": text(&node.truth_receipt),
        "fingerprints": node.fingerprints.iter().collect::<std::collections::BTreeMap<_, _>>(),
        "pending_wave": (node.pending_wave != 0).then_some(node.pending_wave),
        "queued_events": node.queued_events,
    })
}

/// An empty text means that there is none.
fn text(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn kind(condition: &Condition) -> &'static str {
    match condition.kind() {
        Kind::Unspecified => "unknown",
        Kind::Idle => "idle",
        Kind::Ready => "ready",
        Kind::InFlight => "in_flight",
        Kind::Backoff => "backoff",
        Kind::WaitingForInputs => "waiting_for_inputs",
        Kind::WaitingForAncestors => "waiting_for_ancestors",
        Kind::WaitingForCut => "waiting_for_cut",
    }
}

/// What a node is doing, for people.
pub(crate) fn condition(condition: &Condition, now: i64) -> String {
    let names = || clean(&condition.waits_for.join(", "));
    let until = || ago(condition.until_ms, now);
    match condition.kind() {
        Kind::Unspecified => "unknown".into(),
        Kind::Idle => "idle".into(),
        Kind::Ready => "ready for a worker".into(),
        Kind::InFlight => format!("renders on {}", clean(&condition.worker)),
        Kind::Backoff => format!(
            "tries again {}, attempt {} failed: {}",
            until(),
            condition.attempt,
            clean(&condition.reason)
        ),
        Kind::WaitingForInputs => format!("waits for a first {}", names()),
        Kind::WaitingForAncestors => format!("waits until {} settled", names()),
        Kind::WaitingForCut => {
            format!("waits for inputs of one moment ({}), at most until {}", names(), until())
        }
    }
}
