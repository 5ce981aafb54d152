//! One lease: heartbeats beside the render, and the commit that ends it.

use std::time::Duration;

use prose_api::{Work as Client, fault, v1};
use prose_render::{Harnesses, Renderer, Work};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::backoff::Backoff;

/// Heartbeats sent in the time of one lease.
const BEATS: u32 = 3;

/// What a lease is rendered with.
pub(crate) struct Bench<'a> {
    pub(crate) client: Client,
    pub(crate) renderer: &'a Renderer,
    pub(crate) harnesses: &'a Harnesses,
}

/// Renders a lease and commits what came of it. `stop` ends the session early; the wake is then
/// handed back as an infrastructure failure.
pub(crate) async fn work(bench: Bench<'_>, lease: v1::Lease, stop: CancellationToken) {
    let key = Key { reactor: lease.reactor.clone(), node: lease.node.clone(), fence: lease.fence };
    let time = Duration::from_millis(lease.lease_ms);
    // Ends with this function, whatever way it ends.
    let session = stop.child_token();
    let _ended = session.clone().drop_guard();
    let lost = CancellationToken::new();
    let beats =
        tokio::spawn(beat(bench.client.clone(), key.clone(), time, session.clone(), lost.clone()));

    let report = match Work::from_lease(lease) {
        Ok(work) => bench.renderer.render_with(&work, bench.harnesses, session.clone()).await,
        Err(error) => prose_render::Report {
            verdict: prose_render::Verdict::Infrastructure(prose_render::Infrastructure {
                code: "lease_unreadable".to_owned(),
                reason: error.to_string(),
            }),
            cost: prose_render::Cost::default(),
        },
    };
    if lost.is_cancelled() {
        tracing::warn!(
            reactor.name = key.reactor,
            node.name = key.node,
            lease.fence = key.fence,
            "the lease was lost; what the session came to is dropped",
        );
    } else {
        let Key { reactor, node, fence } = key.clone();
        commit(bench.client, report.into_commit(reactor, node, fence), &key, &lost).await;
    }
    session.cancel();
    // The task ends at once: its token is cancelled. A panic in it has been printed already.
    let _ = beats.await;
}

#[derive(Clone)]
struct Key {
    reactor: String,
    node: String,
    fence: u64,
}

/// Extends the lease until `session` ends. When the lease is lost, or has surely run out because
/// nobody could be reached, cancels both `lost` and `session`.
async fn beat(
    mut client: Client,
    key: Key,
    time: Duration,
    session: CancellationToken,
    lost: CancellationToken,
) {
    let mut ends = Instant::now() + time;
    loop {
        tokio::select! {
            () = session.cancelled() => return,
            () = tokio::time::sleep(time / BEATS) => {}
        }
        let sent = Instant::now();
        let request = v1::HeartbeatRequest {
            reactor: key.reactor.clone(),
            node: key.node.clone(),
            fence: key.fence,
        };
        let answer = tokio::select! {
            () = session.cancelled() => return,
            answer = tokio::time::timeout_at(ends, client.heartbeat(request)) => answer,
        };
        let alive = match answer {
            Ok(Ok(response)) => {
                ends = sent + time;
                response.into_inner().alive
            }
            Ok(Err(status)) => {
                tracing::warn!(
                    reactor.name = key.reactor,
                    node.name = key.node,
                    error.code = fault(&status).code,
                    "a heartbeat failed",
                );
                Instant::now() < ends
            }
            Err(_) => false,
        };
        if !alive {
            lost.cancel();
            session.cancel();
            return;
        }
    }
}

/// Commits, again and again while that may help and the lease holds.
async fn commit(
    mut client: Client,
    request: v1::CommitRequest,
    key: &Key,
    lost: &CancellationToken,
) {
    let mut backoff = Backoff::new();
    loop {
        let answer = client.commit(request.clone()).await;
        let fault = match answer {
            Ok(response) => return log(key, &response.into_inner()),
            Err(status) => fault(&status),
        };
        tracing::warn!(
            reactor.name = key.reactor,
            node.name = key.node,
            lease.fence = key.fence,
            error.code = fault.code,
            error.message = fault.message,
            error.retryable = fault.retryable,
            "a commit failed",
        );
        if !fault.retryable {
            return;
        }
        tokio::select! {
            () = lost.cancelled() => return,
            () = backoff.wait() => {}
        }
    }
}

fn log(key: &Key, answer: &v1::CommitResponse) {
    let status = match (answer.accepted, answer.status.as_str()) {
        (false, _) => "stale",
        (true, "") => "retrying",
        (true, status) => status,
    };
    tracing::info!(
        reactor.name = key.reactor,
        node.name = key.node,
        lease.fence = key.fence,
        commit.status = status,
        commit.reason = answer.reason,
        "committed",
    );
}
