//! What each node is doing.

use std::{collections::BTreeMap, sync::Arc};

use prose_ir::{Address, Bundle, Fingerprint};
use prose_reconciler::{Condition, NodeIx, Reactor, Role, Status, Wave};

use crate::{Engine, Error};

/// One reactor at a glance.
#[derive(Debug, Clone)]
pub struct ReactorReport {
    /// Its name.
    pub name: String,
    /// The active epoch.
    pub epoch: u64,
    /// The newest wave.
    pub wave: Wave,
    /// How many receipts its ledger holds.
    pub receipts: u64,
    /// Whether nothing is pending, in flight or waiting for another attempt.
    pub quiet: bool,
    /// Producers before their subscribers.
    pub nodes: Vec<NodeReport>,
}

/// One node at a glance.
#[derive(Debug, Clone)]
pub struct NodeReport {
    /// Its name.
    pub name: Arc<str>,
    /// How it comes by its truth.
    pub role: Role,
    /// What it is doing.
    pub condition: Condition,
    /// The length of its chain.
    pub seq: u64,
    /// Its newest receipt.
    pub head: Option<Address>,
    /// What that one decided: `rendered`, `skipped` or `failed`.
    pub last_status: Option<&'static str>,
    /// The receipt that published the current truth, and its tree.
    pub truth: Option<(Address, Address)>,
    /// The tokens of the current truth.
    pub fingerprints: BTreeMap<String, Fingerprint>,
    /// The lowest pending wave.
    pub pending: Option<Wave>,
    /// External events that wait for a render.
    pub queued_events: u64,
}

impl Engine {
    /// Every reactor by name, with its epoch, wave and count of receipts.
    ///
    /// # Errors
    /// The store.
    pub async fn reactors(&self) -> Result<Vec<prose_store::ReactorRow>, Error> {
        Ok(self.store.reactors().await?)
    }

    /// A reactor and what its nodes are doing.
    ///
    /// # Errors
    /// No such reactor, or the store.
    pub async fn status(&self, reactor: &str) -> Result<ReactorReport, Error> {
        let view = self.view(reactor).await?;
        let core = &view.reactor;
        Ok(ReactorReport {
            name: reactor.to_owned(),
            epoch: core.epoch(),
            wave: core.wave(),
            receipts: view.head.receipts,
            quiet: core.is_quiet(),
            nodes: core.graph().indices().map(|v| report(core, v)).collect(),
        })
    }

    /// One node of a reactor.
    ///
    /// # Errors
    /// No such reactor or node, or the store.
    pub async fn node(&self, reactor: &str, node: &str) -> Result<NodeReport, Error> {
        let view = self.view(reactor).await?;
        let found = view.reactor.graph().find(node);
        found
            .map(|v| report(&view.reactor, v))
            .ok_or_else(|| Error::NoNode { reactor: reactor.to_owned(), node: node.to_owned() })
    }

    /// The active epoch and its bundle.
    ///
    /// # Errors
    /// No such reactor, or the store.
    pub async fn bundle(&self, reactor: &str) -> Result<(u64, Bundle), Error> {
        let view = self.view(reactor).await?;
        Ok((view.reactor.epoch(), view.program.bundle.clone()))
    }

    /// Answers once nothing is pending, in flight or waiting for another attempt.
    ///
    /// # Errors
    /// No such reactor, or the store.
    pub async fn wait_quiet(&self, reactor: &str) -> Result<(), Error> {
        let mut changes = self.changes(reactor);
        loop {
            // Before the look, so that a change during it is not slept through.
            changes.borrow_and_update();
            if self.view(reactor).await?.reactor.is_quiet() {
                return Ok(());
            }
            // The sender lives in the engine's slot, which lives as long as the engine.
            let _ = changes.changed().await;
        }
    }
}

fn report(core: &Reactor, v: NodeIx) -> NodeReport {
    let node = core.node(v);
    let spec = core.graph().spec(v);
    let current = node.current();
    NodeReport {
        name: spec.name.clone(),
        role: spec.role,
        condition: core.condition(v),
        seq: node.seq,
        head: node.head.clone(),
        last_status: node.last.map(|status| match status {
            Status::Rendered => "rendered",
            Status::Skipped => "skipped",
            Status::Failed => "failed",
        }),
        truth: current.map(|c| (c.receipt.clone(), c.tree.clone())),
        fingerprints: current.map(|c| c.fingerprints.as_ref().clone()).unwrap_or_default(),
        pending: node.dirty.lowest(),
        queued_events: node.inbox.next - node.inbox.consumed,
    }
}
