//! What came of a render, as the commit that says so.

use std::time::Duration;

use bytes::Bytes;
use prose_api::v1::{self, commit_request::Outcome as Verdict};
use prose_harness::{Outcome, SessionFailure, Status, Usage};
use prose_truth::Files;

/// What came of a session.
pub(crate) fn verdict(outcome: Outcome) -> Verdict {
    match outcome.status {
        Status::Rendered => Verdict::Rendered(v1::Rendered {
            files: Some(files(outcome.published)),
            attestations: outcome.attestations.into_iter().collect(),
            diff: outcome.diff.unwrap_or_default(),
        }),
        Status::Failed => Verdict::Failed(v1::Failed {
            reason: outcome.reason.unwrap_or_default(),
            needs: outcome.needs.map(|needs| needs.to_string()).unwrap_or_default(),
            addressed_to: String::new(),
        }),
    }
}

/// There was no session to speak of.
pub(crate) fn infrastructure(reason: impl Into<String>) -> Verdict {
    Verdict::Infrastructure(v1::Infrastructure { reason: reason.into() })
}

/// A session that gave nothing that could be judged.
pub(crate) fn failure(failure: &SessionFailure) -> Verdict {
    infrastructure(failure.explain())
}

/// What a session cost, on the harness named `harness`.
pub(crate) fn usage(harness: &str, model: Option<&str>, usage: Usage) -> v1::Usage {
    v1::Usage {
        harness: harness.to_owned(),
        model: usage.model.or_else(|| model.map(str::to_owned)).unwrap_or_default(),
        fresh_tokens: usage.fresh_tokens,
        reused_tokens: usage.reused_tokens,
        duration_ms: 0,
    }
}

/// The commit that ends the lease (`reactor`, `node`, `fence`).
pub(crate) fn request(
    (reactor, node, fence): (String, String, u64),
    outcome: Verdict,
    usage: v1::Usage,
    duration: Duration,
) -> v1::CommitRequest {
    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    v1::CommitRequest {
        reactor,
        node,
        fence,
        outcome: Some(outcome),
        usage: Some(v1::Usage { duration_ms, ..usage }),
    }
}

fn files(files: Files) -> v1::Files {
    let file = |(path, bytes)| (String::from(path), Bytes::from_owner(bytes));
    v1::Files { files: files.into_iter().map(file).collect() }
}
