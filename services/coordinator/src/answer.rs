//! The engine's answers as messages.

use prose_api::v1;
use prose_engine::{Explanation, Move, MovedWhat, NodeReport, ReactorReport};
use prose_reconciler::{Condition, Role, Waiting};
use prose_store::ReceiptRow;

pub(crate) fn receipt(row: ReceiptRow) -> v1::Receipt {
    v1::Receipt { position: row.position, address: row.address.to_string(), body: row.bytes.into() }
}

pub(crate) fn status(report: ReactorReport) -> v1::GetStatusResponse {
    v1::GetStatusResponse {
        reactor: Some(v1::ReactorStatus {
            name: report.name,
            epoch: report.epoch,
            wave: report.wave,
            receipts: report.receipts,
        }),
        quiet: report.quiet,
        nodes: report.nodes.into_iter().map(node).collect(),
    }
}

pub(crate) fn node(report: NodeReport) -> v1::NodeStatus {
    let (truth_receipt, tree) = report.truth.unzip();
    let text = |address: Option<prose_ir::Address>| address.map(String::from).unwrap_or_default();
    v1::NodeStatus {
        name: report.name.to_string(),
        role: match report.role {
            Role::Passthrough => "passthrough",
            Role::Rendered => "rendered",
            Role::External => "external",
        }
        .to_owned(),
        condition: Some(condition(report.condition)),
        seq: report.seq,
        head: text(report.head),
        last_status: report.last_status.map(ToOwned::to_owned).unwrap_or_default(),
        tree: text(tree),
        truth_receipt: text(truth_receipt),
        fingerprints: report.fingerprints.into_iter().map(|(f, t)| (f, t.into())).collect(),
        pending_wave: report.pending.unwrap_or(0),
        queued_events: report.queued_events,
    }
}

fn condition(condition: Condition) -> v1::Condition {
    use v1::condition::Kind;
    let names = |names: Vec<std::sync::Arc<str>>| names.iter().map(ToString::to_string).collect();
    let of = |kind: Kind| v1::Condition { kind: kind.into(), ..Default::default() };
    match condition {
        Condition::Idle => of(Kind::Idle),
        Condition::Ready { .. } => of(Kind::Ready),
        Condition::InFlight { worker, expires_at, attempt } => {
            v1::Condition { worker, until_ms: expires_at, attempt, ..of(Kind::InFlight) }
        }
        Condition::Backoff { not_before, attempts, reason } => {
            v1::Condition { until_ms: not_before, attempt: attempts, reason, ..of(Kind::Backoff) }
        }
        Condition::Waiting(Waiting::Inputs(inputs)) => v1::Condition {
            waits_for: inputs.iter().map(|i| format!("{}.{}", i.producer, i.facet)).collect(),
            ..of(Kind::WaitingForInputs)
        },
        Condition::Waiting(Waiting::Unsettled { ancestors, .. }) => {
            v1::Condition { waits_for: names(ancestors), ..of(Kind::WaitingForAncestors) }
        }
        Condition::Waiting(Waiting::Gaps { ancestors, until, .. }) => v1::Condition {
            waits_for: names(ancestors),
            until_ms: until,
            ..of(Kind::WaitingForCut)
        },
    }
}

pub(crate) fn explanation(explanation: Explanation) -> v1::ExplainResponse {
    v1::ExplainResponse {
        node: Some(node(explanation.node)),
        last: explanation.last.map(receipt),
        moves: explanation.moves.into_iter().map(moved).collect(),
        woken_by: explanation.woken_by.into_iter().map(receipt).collect(),
    }
}

fn moved(moved: Move) -> v1::Move {
    let mut message = v1::Move {
        before: moved.before.unwrap_or_default(),
        after: moved.after.unwrap_or_default(),
        receipt: moved.receipt.unwrap_or_default(),
        ..Default::default()
    };
    message.what = match moved.what {
        MovedWhat::Contract => "contract",
        MovedWhat::Event => "event",
        MovedWhat::Freshness => "freshness",
        MovedWhat::Input { need, producer, facet } => {
            (message.need, message.producer, message.facet) = (need, producer, facet);
            "input"
        }
    }
    .to_owned();
    message
}
