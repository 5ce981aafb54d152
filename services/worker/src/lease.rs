//! A lease in our hands, kept alive until it is lost.

use std::time::Duration;

use prose_api::v1;
use prose_bus::Delivery;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

/// A lease is extended this often in its time.
const BEATS_PER_LEASE: u32 = 3;
/// After a heartbeat that failed, the next one comes this much sooner.
const HASTE: u32 = 4;

/// A claimed node, and the message that told us of it.
pub(crate) struct Held {
    client: prose_api::Work,
    request: v1::HeartbeatRequest,
    delivery: Box<dyn Delivery>,
    length: Duration,
    /// Until then the lease cannot have run out: counted from before the call that gave it.
    until: Instant,
    next: Instant,
}

/// How a lease was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The coordinator says so.
    Ended,
    /// It may have run out without a heartbeat coming through.
    Expired,
}

impl Held {
    /// `lease`, given in answer to a call made at `asked`.
    pub(crate) fn new(
        client: prose_api::Work,
        lease: &v1::Lease,
        delivery: Box<dyn Delivery>,
        asked: Instant,
    ) -> Self {
        let request = v1::HeartbeatRequest {
            reactor: lease.reactor.clone(),
            node: lease.node.clone(),
            fence: lease.fence,
        };
        let length = Duration::from_millis(lease.lease_ms);
        let next = asked + length / BEATS_PER_LEASE;
        Self { client, request, delivery, length, until: asked + length, next }
    }

    /// Keeps the lease alive and returns when it is lost. May be dropped, and called again.
    pub(crate) async fn keep(&mut self) -> Lost {
        loop {
            sleep_until(self.next.min(self.until)).await;
            if Instant::now() >= self.until {
                return Lost::Expired;
            }
            if !self.beat().await {
                return Lost::Ended;
            }
        }
    }

    /// The message that told us of the work.
    pub(crate) fn into_delivery(self) -> Box<dyn Delivery> {
        self.delivery
    }

    /// One heartbeat; whether the lease may still be alive.
    async fn beat(&mut self) -> bool {
        let asked = Instant::now();
        let pause = self.length / BEATS_PER_LEASE;
        // For when this one fails, or is dropped.
        self.next = asked + pause / HASTE;
        let answer = self.client.heartbeat(self.request.clone());
        let problem = match timeout_at((asked + pause).min(self.until), answer).await {
            Ok(Ok(answer)) if !answer.get_ref().alive => return false,
            Ok(Ok(_)) => {
                self.until = asked + self.length;
                self.next = asked + pause;
                self.tell_bus(pause).await;
                return true;
            }
            Ok(Err(status)) => prose_api::fault(&status).message,
            Err(_) => "the coordinator has not answered in time".to_owned(),
        };
        tracing::warn!(
            reactor.name = self.request.reactor,
            node.name = self.request.node,
            lease.fence = self.request.fence,
            problem,
            "a heartbeat failed",
        );
        true
    }

    /// Keeps the bus from giving the message to another. The lease does not depend on it.
    async fn tell_bus(&mut self, patience: Duration) {
        if let Ok(Err(error)) = timeout(patience, self.delivery.progress()).await {
            tracing::debug!(%error, "the bus was not told of progress");
        }
    }
}
