//! One operation on one reactor: its lock, its state in memory, and what it will write.

use std::sync::Arc;

use prose_bus::subject;
use prose_ir::{Address, TOPOLOGY_NODE};
use prose_ledger::{Addressed, ReceiptError};
use prose_reconciler::{Millis, NodeIx};
use prose_store::{Changes, Content, NewReceipt, NodeRow, ReactorUpdate, Transaction};
use tokio::sync::{OwnedMappedMutexGuard, OwnedMutexGuard};

use crate::{
    Engine, Error, WORK_POOL,
    cache::{Cached, Slot},
    outbox::{self, Outgoing},
    parallel,
    sealer::{Sealer, status_text},
    signals::Signals,
};

/// An open operation. Dropped without [`Operation::finish`], it leaves nothing behind.
pub(crate) struct Operation<'a> {
    engine: &'a Engine,
    pub(crate) name: String,
    pub(crate) now: Millis,
    pub(crate) tx: Box<dyn Transaction>,
    /// Empty while the operation runs: given up half-way, the next one reads from the store.
    place: OwnedMutexGuard<Option<Cached>>,
    pub(crate) state: Cached,
    pub(crate) changes: Changes,
    /// Messages to publish besides those that follow from what was decided.
    pub(crate) messages: Vec<Outgoing>,
    receipts: Vec<Addressed>,
    error: Option<ReceiptError>,
}

impl Engine {
    /// Takes the lock of a reactor and has its state in memory.
    pub(crate) async fn begin(&self, reactor: &str) -> Result<Operation<'_>, Error> {
        let mut place = self.slot(reactor).cached.clone().lock_owned().await;
        let known = place.as_ref().map(|cached| cached.revision);
        let gone = || Error::NoReactor(reactor.to_owned());
        let (mut tx, mut loaded) = self.store.begin(reactor, known).await?.ok_or_else(gone)?;
        let now = self.clock.now();
        let cached = place.take().filter(|cached| cached.revision == loaded.reactor.revision);
        let state = match cached {
            Some(cached) => cached,
            None => {
                if known.is_some() {
                    drop(tx);
                    (tx, loaded) = self.store.begin(reactor, None).await?.ok_or_else(gone)?;
                }
                let bundle = match loaded.reactor.epoch {
                    0 => None,
                    epoch => tx.epoch(epoch).await?,
                };
                Cached::read(reactor, loaded, bundle, self.policy, now)?
            }
        };
        Ok(Operation {
            engine: self,
            name: reactor.to_owned(),
            now,
            tx,
            place,
            state,
            changes: Changes::default(),
            messages: Vec::new(),
            receipts: Vec::new(),
            error: None,
        })
    }
}

/// A reactor's state for reading, held still while it is looked at.
pub(crate) type View = OwnedMappedMutexGuard<Option<Cached>, Cached>;

impl Engine {
    /// The state of a reactor as last committed, without taking its lock in the store.
    pub(crate) async fn view(&self, reactor: &str) -> Result<View, Error> {
        let mut place = self.slot(reactor).cached.clone().lock_owned().await;
        let gone = || Error::NoReactor(reactor.to_owned());
        let row = self.store.reactor(reactor).await?.ok_or_else(gone)?;
        if place.as_ref().is_none_or(|cached| cached.revision != row.revision) {
            let loaded = self.store.load(reactor).await?.ok_or_else(gone)?;
            let bundle = match loaded.reactor.epoch {
                0 => None,
                epoch => self.store.epoch(reactor, epoch).await?,
            };
            let now = self.clock.now();
            *place = Some(Cached::read(reactor, loaded, bundle, self.policy, now)?);
        }
        OwnedMutexGuard::try_map(place, Option::as_mut).map_err(|_| gone())
    }
}

impl Operation<'_> {
    /// A node by name.
    pub(crate) fn node(&self, node: &str) -> Result<NodeIx, Error> {
        self.state
            .reactor
            .graph()
            .find(node)
            .ok_or_else(|| Error::NoNode { reactor: self.name.clone(), node: node.to_owned() })
    }

    /// Asks the core, with a sealer at hand.
    pub(crate) fn decide<T>(
        &mut self,
        ask: impl FnOnce(&mut prose_reconciler::Reactor, &mut Sealer<'_>, Millis) -> T,
    ) -> T {
        let mut sealer = Sealer {
            reactor: &self.name,
            head: &mut self.state.head,
            receipts: &mut self.receipts,
            error: &mut self.error,
        };
        ask(&mut self.state.reactor, &mut sealer, self.now)
    }

    /// Adds trees and blobs to what is written.
    pub(crate) fn store_contents<B: AsRef<[u8]>>(
        &mut self,
        contents: impl IntoIterator<Item = (Address, B)>,
    ) {
        self.changes.contents.extend(
            contents
                .into_iter()
                .map(|(address, bytes)| Content { address, bytes: bytes.as_ref().to_vec() }),
        );
    }

    /// Gives the lock back; nothing has changed.
    pub(crate) fn leave(mut self) {
        // Another engine may have written what was read here.
        self.engine.signals.set_deadline(&self.name, self.state.reactor.next_deadline());
        *self.place = Some(self.state);
    }

    /// Writes what was decided, all or nothing, and lets others know. Once the write is under way,
    /// dropping the future does not stop that: somebody has to hear of what was written.
    pub(crate) async fn finish(mut self) -> Result<(), Error> {
        if let Some(error) = self.error.take() {
            return Err(error.into());
        }
        let effects = self.state.reactor.take_effects();
        let nothing = effects.touched.is_empty()
            && self.receipts.is_empty()
            && self.messages.is_empty()
            && self.changes == Changes::default();
        if nothing {
            self.leave();
            return Ok(());
        }
        let mut changes = std::mem::take(&mut self.changes);
        for name in &effects.touched {
            changes.nodes.push(self.node_row(name)?);
        }
        self.state.head.as_of = prose_ledger::Moment::from_millis(self.now);
        let head = self.state.head.clone().sign(&self.engine.signer)?;
        changes.reactor = Some(ReactorUpdate {
            wave: self.state.reactor.wave(),
            epoch: self.state.reactor.epoch(),
            head: head.bytes,
            state: Vec::new(),
        });
        let mut messages = std::mem::take(&mut self.messages);
        messages.extend(effects.ready.iter().map(|name| self.work_message(name)));
        let first = self.state.head.receipts + 1 - self.receipts.len() as u64;
        let receipts = std::mem::take(&mut self.receipts);
        let signed = parallel::map(&receipts, |receipt| receipt.signed(&self.engine.signer));
        for ((position, addressed), signed) in (first..).zip(&receipts).zip(signed) {
            let (_, bytes) = signed?;
            let receipt = addressed.receipt();
            messages.extend(receipt_messages(&self.name, position, addressed));
            changes.receipts.push(NewReceipt {
                position,
                node: receipt.node.clone(),
                seq: receipt.seq,
                status: status_text(receipt.status).to_owned(),
                address: addressed.address().clone(),
                bytes,
            });
        }
        let wakes_relay = !messages.is_empty();
        changes.outbox.extend(outbox::pack(messages));
        let commit = Commit {
            slot: self.engine.slot(&self.name),
            signals: self.engine.signals.clone(),
            name: self.name,
            tx: self.tx,
            place: self.place,
            state: self.state,
            changes,
            wakes_relay,
        };
        match tokio::spawn(commit.run()).await {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // Only a runtime that ends cancels it.
                Err(_) => Err(prose_store::Error::Closed.into()),
            },
        }
    }

    fn node_row(&self, name: &str) -> Result<NodeRow, Error> {
        let reactor = &self.state.reactor;
        let damaged = |what: String| Error::Damaged { reactor: self.name.clone(), what };
        let state = reactor
            .state(name)
            .ok_or_else(|| damaged(format!("node `{name}` was touched but is not there")))?;
        let state = serde_json::to_vec(state)
            .map_err(|error| damaged(format!("the state of node `{name}`: {error}")))?;
        let deadline = reactor.graph().find(name).and_then(|v| reactor.deadline(v));
        Ok(NodeRow { node: name.to_owned(), state, deadline })
    }

    /// Tells a worker that a node is ready. The id carries the revision to come, so that whoever
    /// says it anew, be it within the bus's window of repetitions, is heard.
    pub(crate) fn work_message(&self, node: &str) -> Outgoing {
        let fence = self.state.reactor.state(node).map_or(0, |s| s.fence) + 1;
        let revision = self.state.revision + 1;
        Outgoing {
            id: format!("work/{}/{node}/{fence}/{revision}", self.name),
            subject: subject::work(WORK_POOL, &self.name, node).as_str().to_owned(),
            payload: String::new(),
        }
    }
}

/// The end of an operation: everything is decided, and what is left must run to its end.
struct Commit {
    slot: Arc<Slot>,
    signals: Arc<Signals>,
    name: String,
    tx: Box<dyn Transaction>,
    place: OwnedMutexGuard<Option<Cached>>,
    state: Cached,
    changes: Changes,
    wakes_relay: bool,
}

impl Commit {
    async fn run(mut self) -> Result<(), Error> {
        self.state.revision = self.tx.commit(self.changes).await?;
        let revision = self.state.revision;
        // All under the reactor's lock, so that nobody's newer word is overwritten.
        self.signals.set_deadline(&self.name, self.state.reactor.next_deadline());
        *self.place = Some(self.state);
        self.slot.revision.send_replace(revision);
        drop(self.place);
        if self.wakes_relay {
            self.signals.outbox_filled.notify_one();
        }
        Ok(())
    }
}

/// One message for the ledger, and one for each facet that moved. They carry ids, no bodies.
fn receipt_messages(reactor: &str, position: u64, sealed: &Addressed) -> Vec<Outgoing> {
    let receipt = sealed.receipt();
    if receipt.node == TOPOLOGY_NODE {
        return Vec::new();
    }
    let payload = format!(
        r#"{{"position":{position},"receipt":"{}","status":"{}"}}"#,
        sealed.address(),
        status_text(receipt.status),
    );
    let message = |kind: &str, subject: prose_bus::Subject| Outgoing {
        id: format!("{kind}/{}", sealed.address()),
        subject: subject.as_str().to_owned(),
        payload: payload.clone(),
    };
    let ledger = message("ledger", subject::ledger(reactor, &receipt.node));
    let moved = receipt
        .moved
        .iter()
        .map(|facet| message(facet, subject::receipt(reactor, &receipt.node, facet)));
    std::iter::once(ledger).chain(moved).collect()
}
