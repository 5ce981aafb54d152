//! The outbox relay: what was committed is published, in order, and then forgotten.

use std::{sync::Arc, time::Duration};

use prose_bus::Bus;

use crate::{Engine, Error, outbox};

/// Rows of the outbox, each the messages of one operation, that are published at once.
const BATCH: usize = 100;
/// Waits after a failure: doubling from the first to the last.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

impl Engine {
    /// Publishes what is in the outbox whenever something is put there. Never returns; stop it by
    /// dropping the future, then [`Engine::flush`].
    pub async fn run_relay(&self, bus: Arc<dyn Bus>) {
        let mut backoff = BACKOFF.0;
        loop {
            match self.flush(bus.as_ref()).await {
                Ok(()) => {
                    backoff = BACKOFF.0;
                    self.signals.outbox_filled.notified().await;
                }
                Err(error) => {
                    tracing::warn!(
                        error = error.as_ref() as &dyn std::error::Error,
                        backoff_ms = backoff.as_millis() as u64,
                        "the outbox cannot be published",
                    );
                    tokio::time::sleep(backoff).await;
                    backoff = (backoff * 2).min(BACKOFF.1);
                }
            }
        }
    }

    /// Publishes everything that is in the outbox now.
    ///
    /// # Errors
    /// When the store or the bus fails; what was not settled is published again later.
    pub async fn flush(
        &self,
        bus: &dyn Bus,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        loop {
            let rows = self.store.outbox(BATCH).await?;
            if rows.is_empty() {
                return Ok(());
            }
            let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
            let messages = rows.into_iter().flat_map(|row| outbox::unpack(row.message)).collect();
            bus.publish(messages).await?;
            self.store.settle_outbox(&ids).await?;
        }
    }

    /// Puts a work message for every ready node into the outbox again.
    pub(crate) async fn republish(&self, reactor: &str) -> Result<(), Error> {
        let mut op = self.begin(reactor).await?;
        let graph = op.state.reactor.graph().clone();
        let ready: Vec<_> = op.state.reactor.ready().map(|v| graph.spec(v).name.clone()).collect();
        for node in ready {
            let message = op.work_message(&node);
            op.messages.push(message);
        }
        op.finish().await
    }
}
