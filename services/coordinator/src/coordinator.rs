//! Building, serving and stopping a coordinator.

use std::{io, sync::Arc};

use futures::Stream;
use prose_api::{
    MESSAGE_BYTES_MAX,
    v1::{prose_server::ProseServer, work_server::WorkServer},
};
use prose_bus::Bus;
use prose_engine::{Engine, Error, SystemClock};
use prose_ledger::Signer;
use prose_reconciler::Policy;
use prose_store::Store;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::transport::{Server, server::Connected};

use crate::{prose::ProseService, work::WorkService};

/// What a coordinator is told besides its store and bus.
pub struct Options {
    /// Time limits of the run phase.
    pub policy: Policy,
    /// Signs receipts and heads.
    pub signer: Signer,
    /// Public keys accepted besides that of the signer.
    pub keys: Vec<String>,
}

/// A running coordinator.
pub struct Coordinator {
    engine: Arc<Engine>,
    bus: Arc<dyn Bus>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// Requests of one connection that are worked on at a time.
const CONCURRENCY_PER_CONNECTION: usize = 64;

impl Coordinator {
    /// Takes up what the store holds and starts the clock and the outbox relay.
    ///
    /// # Errors
    /// When the store fails or what it holds cannot be read.
    pub async fn start(
        store: Arc<dyn Store>,
        bus: Arc<dyn Bus>,
        options: Options,
    ) -> Result<Self, Error> {
        let Options { policy, signer, keys } = options;
        let clock = Arc::new(SystemClock);
        let options = prose_engine::Options { policy, signer, keys, clock };
        let engine = Arc::new(Engine::new(store, options));
        engine.recover().await?;
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        let (ticking, relaying) = (engine.clone(), engine.clone());
        tasks.spawn(
            stop.clone().run_until_cancelled_owned(async move { ticking.run_clock().await }),
        );
        let out = bus.clone();
        tasks.spawn(
            stop.clone().run_until_cancelled_owned(async move { relaying.run_relay(out).await }),
        );
        tasks.close();
        Ok(Self { engine, bus, stop, tasks })
    }

    /// Serves both services on `incoming` connections until `stop`.
    ///
    /// # Errors
    /// When the transport fails.
    pub async fn serve<S, C>(
        &self,
        incoming: S,
        stop: CancellationToken,
    ) -> Result<(), tonic::transport::Error>
    where
        S: Stream<Item = io::Result<C>>,
        C: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
    {
        let prose = ProseServer::new(ProseService::new(self.engine.clone(), stop.clone()))
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        let work = WorkServer::new(WorkService::new(self.engine.clone()))
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        Server::builder()
            .concurrency_limit_per_connection(CONCURRENCY_PER_CONNECTION)
            .initial_stream_window_size(Some(4 << 20))
            .initial_connection_window_size(Some(8 << 20))
            .add_service(prose)
            .add_service(work)
            .serve_with_incoming_shutdown(incoming, stop.cancelled_owned())
            .await
    }

    /// Ends clock and relay, then publishes what is left in the outbox. Call it after the last
    /// `serve` has ended.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.wait().await;
        if let Err(error) = self.engine.flush(self.bus.as_ref()).await {
            // Nothing is lost: it is still in the outbox at the next start.
            tracing::warn!(
                error = error.as_ref() as &dyn std::error::Error,
                "the outbox could not be emptied",
            );
        }
    }
}
