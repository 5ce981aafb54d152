//! A receipt in one line.

use prose_ledger::{Sealed, Status};
use serde::Serialize;

use super::{Paint, ago, clean, span};

/// The word that a value of the receipt is written as.
pub(crate) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// The status as receipts write it.
pub(crate) fn status(status: Status) -> &'static str {
    match status {
        Status::Rendered => "rendered",
        Status::Skipped => "skipped",
        Status::Failed => "failed",
    }
}

/// What came of it: what moved, or why it failed.
pub(crate) fn outcome(sealed: &Sealed) -> String {
    let receipt = &sealed.receipt;
    if let Some(failure) = &receipt.failure {
        return format!("{}: {}", word(&failure.class), clean(&failure.reason));
    }
    match (receipt.status, receipt.moved.as_slice()) {
        (Status::Rendered, []) => "nothing moved".into(),
        (_, moved) => clean(&moved.join(", ")),
    }
}

/// The whole receipt in one line.
pub(crate) fn line(position: u64, sealed: &Sealed, paint: Paint) -> String {
    let receipt = &sealed.receipt;
    let cost = &receipt.cost;
    let spent = if cost.tokens.fresh > 0 {
        format!(", {} tokens", cost.tokens.fresh)
    } else {
        String::new()
    };
    let took = i64::try_from(cost.duration_ms).unwrap_or(i64::MAX);
    let took = if took > 0 { format!(", {}", span(took)) } else { String::new() };
    let outcome = match outcome(sealed) {
        nothing if nothing.is_empty() => nothing,
        outcome => format!(": {outcome}"),
    };
    format!(
        "{position:>6}  {}  {} by {}{spent}{took}{outcome}  {}",
        paint.bold(&clean(&receipt.node)),
        paint.status(status(receipt.status)),
        word(&cost.surprise_cause),
        paint.dim(sealed.address.short()),
    )
}

/// When it was, from now.
pub(crate) fn when(sealed: &Sealed, now: i64) -> String {
    ago(sealed.receipt.as_of.as_millis(), now)
}
