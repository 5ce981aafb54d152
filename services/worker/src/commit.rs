//! Handing in what came of a render.

use std::{pin::pin, time::Duration};

use prose_api::{
    Fault,
    v1::{self, commit_request::Outcome},
};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{
    backoff::Backoff,
    call::call,
    lease::{Held, Lost},
};

/// How long one commit may take; it may carry a truth of many megabytes.
const COMMIT_PATIENCE: Duration = Duration::from_secs(60);
/// How long a worker that has to end goes on trying to hand in.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// How a lease ended.
pub(crate) enum Ending {
    /// The coordinator answered.
    Answered(v1::CommitResponse),
    /// The lease was lost before; nothing more is handed in.
    Lost(Lost),
    /// The coordinator takes no commit of this lease.
    Refused(Fault),
    /// The worker has to end, and the coordinator was not reached in time.
    GivenUp,
}

/// Hands in `request`. Failures that may pass are tried again for as long as the lease is ours.
pub(crate) async fn hand_in(
    client: &mut prose_api::Work,
    held: &mut Held,
    mut request: v1::CommitRequest,
    abandon: &CancellationToken,
) -> Ending {
    let backoff = Backoff::default();
    let mut last_moment = pin!(async {
        abandon.cancelled().await;
        sleep(LAST_PATIENCE).await;
    });
    loop {
        let mut answer = pin!(call(COMMIT_PATIENCE, client.commit(request.clone())));
        let (answer, lost) = tokio::select! {
            biased;
            answer = &mut answer => (answer, None),
            () = &mut last_moment => return Ending::GivenUp,
            // A commit that has come through ends the lease as well, so its answer is heard out.
            lost = held.keep() => (answer.await, Some(lost)),
        };
        let fault = match (answer, lost) {
            (Ok(answer), _) => return Ending::Answered(answer),
            (Err(_), Some(lost)) => return Ending::Lost(lost),
            (Err(fault), None) => fault,
        };
        if !fault.retryable {
            // Told why, the coordinator need not wait for the lease to run out.
            match explained(&request, &fault) {
                Some(explained) => request = explained,
                None => return Ending::Refused(fault),
            }
            continue;
        }
        tracing::warn!(
            reactor.name = request.reactor,
            node.name = request.node,
            lease.fence = request.fence,
            error.code = fault.code,
            problem = fault.message,
            "a commit failed and is tried again",
        );
        tokio::select! {
            () = sleep(backoff.failed()) => {}
            () = &mut last_moment => return Ending::GivenUp,
            lost = held.keep() => return Ending::Lost(lost),
        }
    }
}

/// In place of a refused commit, one that says so; there is none for one that says so already.
fn explained(request: &v1::CommitRequest, fault: &Fault) -> Option<v1::CommitRequest> {
    if matches!(request.outcome, Some(Outcome::Infrastructure(_))) {
        return None;
    }
    let reason = format!("the coordinator refused the commit: {}", fault.message);
    Some(v1::CommitRequest {
        outcome: Some(Outcome::Infrastructure(v1::Infrastructure { reason })),
        ..request.clone()
    })
}
