//! Threads that own connections and run closures on them.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::Error;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// One thread per connection, all fed from one queue. Dropping it finishes what is queued.
pub(super) struct Pool {
    /// `None` only while dropping.
    jobs: Option<mpsc::Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
    submitted: AtomicU64,
}

impl Pool {
    pub fn start(name: &str, connections: Vec<Connection>) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        let mut threads = Vec::new();
        for mut connection in connections {
            let queue = Arc::clone(&queue);
            let run = move || {
                while let Some(job) = next(&queue) {
                    job(&mut connection);
                }
            };
            threads.push(thread::Builder::new().name(name.to_owned()).spawn(run)?);
        }
        Ok(Self { jobs: Some(jobs), threads, submitted: AtomicU64::new(0) })
    }

    /// Queues a job. It will run even when nobody waits for it.
    pub fn submit(&self, job: impl FnOnce(&mut Connection) + Send + 'static) -> Result<(), Error> {
        self.submitted.fetch_add(1, Ordering::Relaxed);
        let jobs = self.jobs.as_ref().ok_or(Error::Closed)?;
        jobs.send(Box::new(job)).map_err(|_| Error::Closed)
    }

    /// Runs a job and waits for its answer. When the future is dropped the job runs all the same,
    /// and its answer is dropped on the thread of the pool.
    pub async fn call<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        self.submit(move |connection| {
            let _ = answer.send(job(connection));
        })?;
        answered.await.map_err(|_| Error::Closed)?
    }

    /// How many jobs were queued so far.
    pub fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Relaxed)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // The last handle may be dropped by a job; a thread cannot wait for itself.
            if thread.thread().id() != thread::current().id() && thread.join().is_err() {
                tracing::error!("a database thread has panicked");
            }
        }
    }
}

fn next(queue: &Mutex<mpsc::Receiver<Job>>) -> Option<Job> {
    // No job runs under this lock, so it cannot be poisoned in a way that matters.
    queue.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}
