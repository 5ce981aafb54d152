//! One pool's work: each message goes to one puller and stays counted until it is settled.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use crate::{Error, Message};

pub(super) struct Queue {
    state: Mutex<State>,
    /// Told once for each message that may be taken.
    arrived: Notify,
    messages_max: usize,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Arc<Message>>,
    in_flight: usize,
    closed: bool,
}

impl Queue {
    pub fn new(messages_max: usize) -> Self {
        Self { state: Mutex::default(), arrived: Notify::new(), messages_max }
    }

    /// Takes a message in; `false` when there is no room.
    pub fn push(&self, message: Arc<Message>) -> bool {
        let mut state = self.lock();
        if state.waiting.len() + state.in_flight >= self.messages_max {
            return false;
        }
        state.waiting.push_back(message);
        drop(state);
        self.arrived.notify_one();
        true
    }

    /// Waits for a message. It counts as in flight until it is settled or given back.
    pub async fn take(&self) -> Result<Arc<Message>, Error> {
        loop {
            {
                let mut state = self.lock();
                if state.closed {
                    // Whoever was between its look and its wait must come here too.
                    self.arrived.notify_one();
                    return Err(Error::Closed);
                }
                if let Some(message) = state.waiting.pop_front() {
                    state.in_flight += 1;
                    if !state.waiting.is_empty() {
                        // Several may have arrived for one call of `notify_one` that was stored.
                        self.arrived.notify_one();
                    }
                    return Ok(message);
                }
            }
            // A call that comes between the look above and this wait is stored, so none is missed;
            // one that a dropped future has consumed is passed on by `Notified` itself.
            self.arrived.notified().await;
        }
    }

    pub fn settle(&self) {
        self.lock().in_flight -= 1;
    }

    /// The message goes to the end, so that one which always comes back holds up no other.
    pub fn give_back(&self, message: Arc<Message>) {
        let mut state = self.lock();
        state.in_flight -= 1;
        state.waiting.push_back(message);
        drop(state);
        self.arrived.notify_one();
    }

    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.waiting.clear();
        drop(state);
        self.arrived.notify_waiters();
        self.arrived.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change under the lock is whole before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
