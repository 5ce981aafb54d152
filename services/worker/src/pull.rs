//! Taking work from the bus, never more than there are free slots.

use std::sync::Arc;

use prose_bus::{Bus, Error, Puller};
use tokio::{sync::Semaphore, time::sleep};
use tokio_util::task::TaskTracker;

use crate::{backoff::Backoff, job::Jobs};

/// The pool whose work this worker takes.
const POOL: &str = "default";

/// Takes work until the bus is closed. May be dropped at any time.
pub(crate) async fn pull(bus: Arc<dyn Bus>, jobs: Arc<Jobs>, slots: usize, tasks: TaskTracker) {
    let slots = Arc::new(Semaphore::new(slots));
    let backoff = Backoff::default();
    loop {
        let error = match bus.pull(POOL).await {
            Ok(puller) => take(puller, &jobs, &slots, &tasks, &backoff).await,
            Err(error) => error,
        };
        tracing::warn!(error.code = error.code(), %error, "no work comes from the bus");
        if !error.is_retryable() {
            return;
        }
        sleep(backoff.failed()).await;
    }
}

/// Takes work until the bus fails.
async fn take(
    mut puller: Box<dyn Puller>,
    jobs: &Arc<Jobs>,
    slots: &Arc<Semaphore>,
    tasks: &TaskTracker,
    backoff: &Backoff,
) -> Error {
    loop {
        let Ok(slot) = Arc::clone(slots).acquire_owned().await else { return Error::Closed };
        let delivery = match puller.next().await {
            Ok(delivery) => delivery,
            Err(error) => return error,
        };
        backoff.succeeded();
        let jobs = Arc::clone(jobs);
        tasks.spawn(async move {
            jobs.run(delivery).await;
            drop(slot);
        });
    }
}
