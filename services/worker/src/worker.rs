//! The loop: a free slot, a work message, a claim, a render.

use std::{sync::Arc, time::Duration};

use prose_api::{Work as Client, fault, v1};
use prose_bus::{Bus, Delivery, subject::Meaning};
use prose_harness::TaskFolder;
use prose_render::{Harnesses, Renderer};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinHandle,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::transport::Channel;

use crate::{
    backoff::Backoff,
    lease::{self, Bench},
};

/// The pool that takes all work.
const POOL: &str = "default";

/// What a worker is told besides where to find its coordinator and bus.
pub struct Options {
    /// Names it in `status` and logs.
    pub name: String,
    /// How many sessions it runs at a time; at least one.
    pub concurrency: usize,
    /// How it renders.
    pub renderer: Renderer,
    /// With what.
    pub harnesses: Harnesses,
}

/// A running worker.
pub struct Worker {
    pull: JoinHandle<()>,
    pulling: CancellationToken,
    sessions: TaskTracker,
    hand_back: CancellationToken,
}

struct Shared {
    client: Client,
    options: Options,
    hand_back: CancellationToken,
}

impl Worker {
    /// Starts pulling work. Task folders and processes that a killed worker has left in the same
    /// place are swept away first.
    pub fn start(channel: Channel, bus: Arc<dyn Bus>, options: Options) -> Self {
        match TaskFolder::sweep(&options.renderer.folder) {
            Ok(0) => {}
            Ok(folders) => tracing::info!(folders, "swept what a killed worker had left"),
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "what a killed worker may have left could not be swept",
            ),
        }
        let (pulling, hand_back) = (CancellationToken::new(), CancellationToken::new());
        let sessions = TaskTracker::new();
        let slots = Arc::new(Semaphore::new(options.concurrency.max(1)));
        let client = prose_api::work(channel);
        let shared = Arc::new(Shared { client, options, hand_back: hand_back.clone() });
        let pull = pull(shared, bus, slots, sessions.clone());
        let pull = pulling.clone().run_until_cancelled_owned(pull);
        let pull = tokio::spawn(async move { pull.await.unwrap_or(()) });
        Self { pull, pulling, sessions, hand_back }
    }

    /// Takes no more work; lets running sessions end within `grace`, then hands the rest back.
    pub async fn drain(self, grace: Duration) {
        self.pulling.cancel();
        // Ends at once: its token is cancelled. A panic in it has been printed already.
        let _ = self.pull.await;
        self.sessions.close();
        if tokio::time::timeout(grace, self.sessions.wait()).await.is_err() {
            self.hand_back.cancel();
            self.sessions.wait().await;
        }
    }
}

async fn pull(
    shared: Arc<Shared>,
    bus: Arc<dyn Bus>,
    slots: Arc<Semaphore>,
    sessions: TaskTracker,
) {
    let mut backoff = Backoff::new();
    loop {
        let mut puller = match bus.pull(POOL).await {
            Ok(puller) => puller,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "no work can be pulled");
                backoff.wait().await;
                continue;
            }
        };
        loop {
            // A slot first: what the bus hands out is in flight.
            let Ok(slot) = slots.clone().acquire_owned().await else { return };
            match puller.next().await {
                Ok(delivery) => {
                    backoff.reset();
                    sessions.spawn(session(shared.clone(), delivery, slot));
                }
                Err(prose_bus::Error::Closed) => return,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "no work can be pulled",
                    );
                    backoff.wait().await;
                    break;
                }
            }
        }
    }
}

/// Claims what a message hints at, renders it, and settles the message.
async fn session(shared: Arc<Shared>, delivery: Box<dyn Delivery>, slot: OwnedSemaphorePermit) {
    let Some(Meaning::Work { reactor, node, .. }) = delivery.message().subject.meaning() else {
        let _ = delivery.ack().await;
        return;
    };
    let mut client = shared.client.clone();
    let worker = shared.options.name.clone();
    let request = v1::ClaimRequest { reactor, node, worker };
    let lease = match client.claim(request).await {
        Ok(response) => response.into_inner().lease,
        Err(status) => {
            let fault = fault(&status);
            tracing::warn!(
                error.code = fault.code,
                error.message = fault.message,
                "a claim failed"
            );
            if fault.retryable {
                Backoff::new().wait().await;
                // Should the bus be gone as well, it gives the message to another by itself.
                let _ = delivery.nak().await;
            } else {
                let _ = delivery.ack().await;
            }
            return;
        }
    };
    if let Some(lease) = lease {
        tracing::info!(
            reactor.name = lease.reactor,
            node.name = lease.node,
            lease.fence = lease.fence,
            lease.attempt = lease.attempt,
            "claimed",
        );
        let bench = Bench {
            client,
            renderer: &shared.options.renderer,
            harnesses: &shared.options.harnesses,
        };
        lease::work(bench, lease, shared.hand_back.clone()).await;
    }
    // An acknowledgement settles nothing: the fence in the store has done so.
    let _ = delivery.ack().await;
    drop(slot);
}
