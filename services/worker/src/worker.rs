//! Starting and stopping a worker.

use std::{sync::Arc, time::Duration};

use prose_bus::Bus;
use prose_render::{Harnesses, RenderOptions, Renderer};
use tokio::time::timeout;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::transport::Channel;

use crate::{backoff::Backoff, job::Jobs, pull::pull};

/// What a worker is told.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names the worker in `status`.
    pub name: String,
    /// Renders at the same time, at least one.
    pub concurrency: usize,
    /// How renders run. The scratch folder is this worker's alone: what is left in it from a run
    /// before is cleared at the start.
    pub render: RenderOptions,
    /// Which harness renders which node.
    pub harnesses: Harnesses,
}

/// A running worker. Dropping it ends its sessions and hands their work back, in the background;
/// [`Worker::drain`] lets them finish first.
pub struct Worker {
    stop: CancellationToken,
    abandon: CancellationToken,
    tasks: TaskTracker,
}

impl Worker {
    /// Starts to take work from `bus` and to render it for the coordinator behind `channel`.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(channel: Channel, bus: Arc<dyn Bus>, options: Options) -> Self {
        let (stop, abandon) = (CancellationToken::new(), CancellationToken::new());
        let tasks = TaskTracker::new();
        let renderer = Renderer::new(options.render, &options.harnesses);
        let jobs = Arc::new(Jobs {
            client: prose_api::work(channel),
            name: options.name,
            renderer: renderer.clone(),
            stop: stop.clone(),
            abandon: abandon.clone(),
            claims: Backoff::default(),
        });
        let slots = options.concurrency.max(1);
        let tracker = tasks.clone();
        tasks.spawn(stop.clone().run_until_cancelled_owned(async move {
            sweep(&renderer).await;
            pull(bus, jobs, slots, tracker).await;
        }));
        Self { stop, abandon, tasks }
    }

    /// Takes no more work, and gives what runs `grace` to finish. What does not is ended and
    /// handed back, for another worker to take. Nothing of the worker is left when this returns.
    pub async fn drain(self, grace: Duration) {
        self.stop.cancel();
        self.tasks.close();
        if timeout(grace, self.tasks.wait()).await.is_err() {
            self.abandon.cancel();
            self.tasks.wait().await;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop.cancel();
        self.abandon.cancel();
    }
}

async fn sweep(renderer: &Renderer) {
    match renderer.sweep().await {
        Ok(0) => {}
        Ok(folders) => tracing::info!(folders, "cleared what a killed worker left"),
        Err(error) => tracing::warn!(%error, "what a killed worker left could not be cleared"),
    }
}
