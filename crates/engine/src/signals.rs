//! Who is told when an operation has changed something: the clock, the relay, and watchers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use prose_reconciler::Millis;
use tokio::sync::Notify;

/// Shared with operations that end after their caller has gone.
#[derive(Default)]
pub(crate) struct Signals {
    deadlines: Mutex<BTreeMap<String, Millis>>,
    /// Woken when the soonest deadline may have changed.
    pub(crate) clock_changed: Notify,
    /// Woken when there is something in the outbox.
    pub(crate) outbox_filled: Notify,
}

impl Signals {
    /// Notes when a reactor is next due. Call it under the reactor's lock, or a slower operation
    /// puts its older answer over that of a newer one.
    pub(crate) fn set_deadline(&self, reactor: &str, deadline: Option<Millis>) {
        let mut deadlines = lock(&self.deadlines);
        let before = deadlines.values().min().copied();
        match deadline {
            Some(at) => deadlines.insert(reactor.to_owned(), at),
            None => deadlines.remove(reactor),
        };
        let soonest = deadlines.values().min().copied();
        drop(deadlines);
        // A later deadline is found out when the earlier one has passed; an earlier one is not.
        if soonest < before || (before.is_none() && soonest.is_some()) {
            self.clock_changed.notify_one();
        }
    }

    pub(crate) fn soonest_deadline(&self) -> Option<Millis> {
        lock(&self.deadlines).values().min().copied()
    }

    /// The reactors that are due at `now`.
    pub(crate) fn due(&self, now: Millis) -> BTreeSet<String> {
        let deadlines = lock(&self.deadlines);
        deadlines.iter().filter(|(_, at)| **at <= now).map(|(name, _)| name.clone()).collect()
    }
}

/// Locks a map that is consistent after every statement, so a panic elsewhere does not spoil it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
