//! The engine: a store, a signer, and the reactors it keeps in memory.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use prose_ledger::{KeyRing, Signer};
use prose_reconciler::{Millis, Policy};
use prose_store::Store;
use tokio::sync::watch;

use crate::{
    Error,
    cache::Slot,
    signals::{Signals, lock},
};

/// Where the time comes from.
pub trait Clock: Send + Sync + 'static {
    /// Unix time in milliseconds.
    fn now(&self) -> Millis;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        jiff::Timestamp::now().as_millisecond()
    }
}

/// What an engine is told besides its store.
pub struct Options {
    /// Time limits of the run phase.
    pub policy: Policy,
    /// Signs receipts and heads.
    pub signer: Signer,
    /// Public keys accepted besides that of the signer.
    pub keys: Vec<String>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Everything that can be done with reactors.
pub struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) policy: Policy,
    pub(crate) signer: Signer,
    pub(crate) clock: Arc<dyn Clock>,
    keys: Vec<String>,
    slots: Mutex<BTreeMap<String, Arc<Slot>>>,
    pub(crate) signals: Arc<Signals>,
}

impl Engine {
    /// An engine over `store`. Nothing runs by itself: see [`Engine::run_clock`] and
    /// [`Engine::run_relay`].
    pub fn new(store: Arc<dyn Store>, options: Options) -> Self {
        Self {
            store,
            policy: options.policy,
            signer: options.signer,
            clock: options.clock,
            keys: options.keys,
            slots: Mutex::default(),
            signals: Arc::default(),
        }
    }

    /// The public keys whose signatures are accepted, that of the signer first.
    pub fn keys(&self) -> Vec<String> {
        let own = self.signer.key_id().map(ToOwned::to_owned);
        own.into_iter().chain(self.keys.iter().cloned()).collect()
    }

    /// The keys as a ring.
    ///
    /// # Errors
    /// When one of the configured keys is malformed or weak.
    pub fn key_ring(&self) -> Result<KeyRing, prose_ledger::KeyError> {
        let keys = self.keys();
        KeyRing::of(keys.iter().map(String::as_str))
    }

    /// Loads every reactor and takes up its timers. Call once before the clock runs.
    ///
    /// # Errors
    /// When the store fails or what it holds cannot be read.
    pub async fn recover(&self) -> Result<(), Error> {
        for reactor in self.store.reactors().await? {
            self.republish(&reactor.name).await?;
        }
        self.signals.outbox_filled.notify_one();
        Ok(())
    }

    pub(crate) fn slot(&self, reactor: &str) -> Arc<Slot> {
        let mut slots = lock(&self.slots);
        match slots.get(reactor) {
            Some(slot) => slot.clone(),
            None => {
                let slot = Arc::new(Slot::default());
                slots.insert(reactor.to_owned(), slot.clone());
                slot
            }
        }
    }

    /// Rises whenever something was written to the reactor.
    pub fn changes(&self, reactor: &str) -> watch::Receiver<u64> {
        self.slot(reactor).revision.subscribe()
    }

    /// Does what time alone decides, as it comes due; sleeps otherwise. Never returns; stop it by
    /// dropping the future.
    pub async fn run_clock(&self) {
        loop {
            let soonest = self.signals.soonest_deadline();
            let Some(at) = soonest else {
                self.signals.clock_changed.notified().await;
                continue;
            };
            let wait = u64::try_from(at - self.clock.now()).unwrap_or(0);
            if wait > 0 {
                let sleep = tokio::time::sleep(std::time::Duration::from_millis(wait));
                tokio::select! {
                    () = sleep => {}
                    () = self.signals.clock_changed.notified() => continue,
                }
            }
            self.advance_due().await;
        }
    }

    async fn advance_due(&self) {
        let now = self.clock.now();
        for reactor in self.signals.due(now) {
            if let Err(error) = self.advance(&reactor).await {
                tracing::error!(
                    reactor.name = reactor,
                    error.code = error.code(),
                    error = &error as &dyn std::error::Error,
                    "the clock could not do what is due; it looks again in a second",
                );
                self.signals.set_deadline(&reactor, Some(now + RETRY_MS));
            }
        }
    }
}

/// How long the clock waits after a failure of the store.
const RETRY_MS: Millis = 1_000;
