//! The bus inside one process.
//!
//! Everything is bounded: a subscriber holds the newest messages only, a work queue refuses what
//! it has no room for, and repetitions are recognised within a window. Nothing is kept when the
//! process ends; what is ready is published again from the store.

mod queue;
mod recent;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use tokio::sync::broadcast::{self, error::RecvError};

use self::{queue::Queue, recent::Recent};
use crate::{
    Bus, Delivery, Error, Filter, Message, Notice, Puller, Subscription, subject::Meaning,
};

/// How much the bus holds at most.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Messages that wait for the slowest subscriber before it is told that it lags.
    pub backlog_max: usize,
    /// Work messages of one pool, waiting or in flight.
    pub work_max: usize,
    /// Ids within which a repetition is recognised.
    pub recent_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { backlog_max: 4096, work_max: 65_536, recent_max: 16_384 }
    }
}

/// The bus inside one process. Clones share it.
#[derive(Clone)]
pub struct InProcessBus {
    shared: Arc<Shared>,
}

struct Shared {
    limits: Limits,
    state: Mutex<State>,
}

struct State {
    /// `None` once the bus is closed: subscribers then read what is left, and an end.
    everyone: Option<broadcast::Sender<Arc<Message>>>,
    queues: BTreeMap<String, Arc<Queue>>,
    recent: Recent,
}

impl InProcessBus {
    /// A bus with nothing on it.
    pub fn new(limits: Limits) -> Self {
        let state = State {
            everyone: Some(broadcast::Sender::new(limits.backlog_max)),
            queues: BTreeMap::new(),
            recent: Recent::new(limits.recent_max),
        };
        let shared = Shared { limits, state: Mutex::new(state) };
        Self { shared: Arc::new(shared) }
    }

    /// Ends the bus: whoever waits, and every later call, is answered with [`Error::Closed`].
    pub fn close(&self) {
        let mut state = self.shared.lock();
        state.everyone = None;
        for queue in state.queues.values() {
            queue.close();
        }
    }
}

impl Default for InProcessBus {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change under the lock is whole before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self, state: &mut State, pool: &str) -> Arc<Queue> {
        if let Some(queue) = state.queues.get(pool) {
            return Arc::clone(queue);
        }
        let queue = Arc::new(Queue::new(self.limits.work_max));
        state.queues.insert(pool.to_owned(), Arc::clone(&queue));
        queue
    }
}

#[async_trait]
impl Bus for InProcessBus {
    async fn publish(&self, messages: Vec<Message>) -> Result<(), Error> {
        let mut state = self.shared.lock();
        for message in messages {
            if state.everyone.is_none() {
                return Err(Error::Closed);
            }
            if state.recent.contains(&message.id) {
                continue;
            }
            let message = Arc::new(message);
            if let Some(Meaning::Work { pool, .. }) = message.subject.meaning() {
                let queue = self.shared.queue(&mut state, &pool);
                if !queue.push(Arc::clone(&message)) {
                    return Err(Error::Full { pool, limit: self.shared.limits.work_max });
                }
            }
            state.recent.insert(&message.id);
            if let Some(everyone) = &state.everyone {
                // Fails when nobody listens, which is fine.
                let _ = everyone.send(message);
            }
        }
        Ok(())
    }

    async fn subscribe(&self, filter: Filter) -> Result<Box<dyn Subscription>, Error> {
        let state = self.shared.lock();
        let messages = state.everyone.as_ref().ok_or(Error::Closed)?.subscribe();
        Ok(Box::new(Subscriber { messages, filter }))
    }

    async fn pull(&self, pool: &str) -> Result<Box<dyn Puller>, Error> {
        let mut state = self.shared.lock();
        if state.everyone.is_none() {
            return Err(Error::Closed);
        }
        let queue = self.shared.queue(&mut state, pool);
        Ok(Box::new(PoolPuller { queue }))
    }
}

struct Subscriber {
    messages: broadcast::Receiver<Arc<Message>>,
    filter: Filter,
}

#[async_trait]
impl Subscription for Subscriber {
    async fn next(&mut self) -> Result<Notice, Error> {
        loop {
            match self.messages.recv().await {
                Ok(message) if self.filter.matches(&message.subject) => {
                    return Ok(Notice::Message(Message::clone(&message)));
                }
                Ok(_) => {}
                Err(RecvError::Lagged(count)) => return Ok(Notice::Lagged(count)),
                Err(RecvError::Closed) => return Err(Error::Closed),
            }
        }
    }
}

struct PoolPuller {
    queue: Arc<Queue>,
}

#[async_trait]
impl Puller for PoolPuller {
    async fn next(&mut self) -> Result<Box<dyn Delivery>, Error> {
        let message = self.queue.take().await?;
        Ok(Box::new(InFlight { queue: Arc::clone(&self.queue), message, settled: false }))
    }
}

struct InFlight {
    queue: Arc<Queue>,
    message: Arc<Message>,
    settled: bool,
}

#[async_trait]
impl Delivery for InFlight {
    fn message(&self) -> &Message {
        &self.message
    }

    /// Nothing to say: inside one process a holder that is gone has dropped its delivery.
    async fn progress(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn ack(mut self: Box<Self>) -> Result<(), Error> {
        self.settled = true;
        self.queue.settle();
        Ok(())
    }

    async fn nak(mut self: Box<Self>) -> Result<(), Error> {
        self.settled = true;
        self.queue.give_back(Arc::clone(&self.message));
        Ok(())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if !self.settled {
            self.queue.give_back(Arc::clone(&self.message));
        }
    }
}
