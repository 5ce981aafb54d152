//! One piece of work: from the message that hints at it to its settlement.

use std::{pin::pin, time::Duration};

use prose_api::{
    Fault,
    v1::{self, commit_request::Outcome},
};
use prose_bus::{Delivery, subject::Meaning};
use prose_render::Renderer;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    backoff::Backoff,
    call::call,
    commit::{Ending, hand_in},
    lease::Held,
};

/// How long a claim may take; it may carry truths of many megabytes.
const CLAIM_PATIENCE: Duration = Duration::from_secs(30);
/// What a node in the middle of a render is told when its worker has to end.
const STOPPING: &str = "worker is stopping";

/// What all work of a worker has in common.
pub(crate) struct Jobs {
    pub(crate) client: prose_api::Work,
    pub(crate) name: String,
    pub(crate) renderer: Renderer,
    /// Takes no more work.
    pub(crate) stop: CancellationToken,
    /// Ends what is running.
    pub(crate) abandon: CancellationToken,
    /// Claims in a row that failed.
    pub(crate) claims: Backoff,
}

impl Jobs {
    /// Sees one piece of work through.
    pub(crate) async fn run(&self, delivery: Box<dyn Delivery>) {
        let subject = delivery.message().subject.clone();
        let Some(Meaning::Work { reactor, node, .. }) = subject.meaning() else {
            tracing::error!(message.subject = %subject, "a message on the work queue is no work");
            return settle(delivery).await;
        };
        let asked = Instant::now();
        let claimed = tokio::select! {
            biased;
            // Dropping the message gives it back.
            () = self.abandon.cancelled() => return,
            claimed = self.claim(&reactor, &node) => claimed,
        };
        if claimed.is_ok() {
            self.claims.succeeded();
        }
        match claimed {
            Ok(Some(lease)) => {
                let held = Held::new(self.client.clone(), &lease, delivery, asked);
                self.render(lease, held).await;
            }
            Ok(None) => {
                tracing::debug!(reactor.name = reactor, node.name = node, "nothing to render");
                settle(delivery).await;
            }
            Err(fault) => self.not_claimed(&reactor, &node, &fault, delivery).await,
        }
    }

    async fn claim(&self, reactor: &str, node: &str) -> Result<Option<v1::Lease>, Fault> {
        let request = v1::ClaimRequest {
            reactor: reactor.to_owned(),
            node: node.to_owned(),
            worker: self.name.clone(),
        };
        let mut client = self.client.clone();
        Ok(call(CLAIM_PATIENCE, client.claim(request)).await?.lease)
    }

    /// Lets another try where that may help, and rests, so that failing costs little.
    async fn not_claimed(
        &self,
        reactor: &str,
        node: &str,
        fault: &Fault,
        delivery: Box<dyn Delivery>,
    ) {
        tracing::warn!(
            reactor.name = reactor,
            node.name = node,
            error.code = fault.code,
            problem = fault.message,
            "a claim failed",
        );
        if !fault.retryable {
            return settle(delivery).await;
        }
        if let Err(error) = delivery.nak().await {
            tracing::warn!(%error, "a message was not given back");
        }
        self.stop.run_until_cancelled(sleep(self.claims.failed())).await;
    }

    async fn render(&self, lease: v1::Lease, mut held: Held) {
        let (reactor, node, fence) = (lease.reactor.clone(), lease.node.clone(), lease.fence);
        tracing::info!(
            reactor.name = reactor,
            node.name = node,
            lease.fence = fence,
            lease.attempt = lease.attempt,
            worker.name = self.name,
            "claimed",
        );
        match self.session(lease, &mut held).await {
            Ending::Answered(answer) if answer.accepted => tracing::info!(
                reactor.name = reactor,
                node.name = node,
                lease.fence = fence,
                commit.status = if answer.status.is_empty() { "retrying" } else { &*answer.status },
                commit.receipt = answer.receipt,
                commit.reason = answer.reason,
                "committed",
            ),
            ending => tracing::warn!(
                reactor.name = reactor,
                node.name = node,
                lease.fence = fence,
                problem = match ending {
                    Ending::Answered(_) => "the lease had been given to another".to_owned(),
                    Ending::Lost(lost) => format!("the lease was lost: {lost:?}"),
                    Ending::Refused(fault) => fault.message,
                    Ending::GivenUp => "the coordinator was not reached in time".to_owned(),
                },
                "not committed",
            ),
        }
        settle(held.into_delivery()).await;
    }

    /// Runs the session and hands in what came of it, all the while keeping the lease.
    async fn session(&self, lease: v1::Lease, held: &mut Held) -> Ending {
        let stop = self.abandon.child_token();
        let mut render = pin!(self.renderer.render(lease, stop.clone()));
        let mut request = tokio::select! {
            biased;
            request = &mut render => request,
            lost = held.keep() => {
                stop.cancel();
                render.await;
                return Ending::Lost(lost);
            }
        };
        if self.abandon.is_cancelled()
            && let Some(Outcome::Infrastructure(failure)) = &mut request.outcome
        {
            STOPPING.clone_into(&mut failure.reason);
        }
        hand_in(&mut self.client.clone(), held, request, &self.abandon).await
    }
}

/// The store knows all there is to know about the work; the message has done its part.
async fn settle(delivery: Box<dyn Delivery>) {
    if let Err(error) = delivery.ack().await {
        tracing::warn!(%error, "a message was not acknowledged and will come again");
    }
}
