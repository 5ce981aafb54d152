//! What is kept of a reactor between operations.

use std::{collections::BTreeMap, sync::Arc};

use prose_ledger::{Head, SignedHead};
use prose_reconciler::{NodeState, Policy, Reactor};
use prose_store::Loaded;
use tokio::sync::{Mutex, watch};

use crate::{Error, program::Program};

/// One reactor's place in memory. Its lock is held for the length of an operation, so operations
/// of this process queue here instead of at the store.
pub(crate) struct Slot {
    pub(crate) cached: Arc<Mutex<Option<Cached>>>,
    pub(crate) revision: watch::Sender<u64>,
}

impl Default for Slot {
    fn default() -> Self {
        Self { cached: Arc::default(), revision: watch::Sender::new(0) }
    }
}

/// The state of a reactor as of a revision of the store.
pub(crate) struct Cached {
    pub(crate) revision: u64,
    pub(crate) reactor: Reactor,
    pub(crate) program: Arc<Program>,
    pub(crate) head: Head,
}

impl Cached {
    /// Reads a reactor from what the store has loaded and the bundle of its epoch.
    pub(crate) fn read(
        name: &str,
        loaded: Loaded,
        bundle: Option<Vec<u8>>,
        policy: Policy,
        now: prose_reconciler::Millis,
    ) -> Result<Self, Error> {
        let damaged = |what: String| Error::Damaged { reactor: name.to_owned(), what };
        let row = loaded.reactor;
        let program = match bundle {
            Some(bytes) => Program::read(&bytes)?,
            None if row.epoch == 0 => Program::empty(),
            None => return Err(damaged(format!("the bundle of epoch {} is missing", row.epoch))),
        };
        let mut states = BTreeMap::new();
        for node in loaded.nodes {
            let state: NodeState = serde_json::from_slice(&node.state)
                .map_err(|error| damaged(format!("the state of node `{}`: {error}", node.node)))?;
            states.insert(node.node.into(), state);
        }
        let head = if row.head.is_empty() {
            Head::empty(name, prose_ledger::Moment::from_millis(now))
        } else {
            let signed = SignedHead::parse(&row.head);
            signed.map_err(|error| damaged(format!("the head of its ledger: {error}")))?.head
        };
        let graph = program.graph.clone();
        let reactor = Reactor::restore(graph, policy, row.epoch, row.wave, states);
        Ok(Self { revision: row.revision, reactor, program: Arc::new(program), head })
    }
}
