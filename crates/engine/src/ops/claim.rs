//! Claim and heartbeat: the lease of a ready node, and everything to render it on.

use prose_ir::{Contract, Judge};
use prose_reconciler::{Claim, Lease};
use prose_truth::{Files, narrow};

use crate::{Engine, Error};

/// The right to render a node, and everything to render it on.
#[derive(Debug, Clone)]
pub struct RenderLease {
    /// What the core leased.
    pub lease: Lease,
    /// How long the lease lasts without a heartbeat, in milliseconds.
    pub lease_ms: u64,
    /// The lowered contract.
    pub contract: Contract,
    /// Conditions that the render has to attest: id and text.
    pub attest: Vec<(String, String)>,
    /// What each pin of the lease reads, in the same order; none for one that was never published.
    pub inputs: Vec<PinnedFiles>,
    /// The published truth before this render.
    pub prior: Option<Files>,
    /// External events, in order of arrival: canonical JSON texts.
    pub events: Vec<Vec<u8>>,
}

/// The files of one input.
pub type PinnedFiles = Option<Files>;

/// A render reads all events of its moment; this bounds how many are read from the store at once.
const EVENTS_PAGE: u64 = 1_000;

impl Engine {
    /// Leases `node` to `worker`, if there is something to render.
    ///
    /// # Errors
    /// No such reactor or node, or the store.
    pub async fn claim(
        &self,
        reactor: &str,
        node: &str,
        worker: &str,
    ) -> Result<Option<RenderLease>, Error> {
        let mut op = self.begin(reactor).await?;
        let v = match op.node(node) {
            Ok(v) => v,
            Err(error) => {
                op.leave();
                return Err(error);
            }
        };
        let prior = op.state.reactor.node(v).current().map(|current| current.tree.clone());
        let program = op.state.program.clone();
        let claim = op.decide(|core, seal, now| core.claim(seal, now, v, worker));
        op.finish().await?;
        let Claim::Leased(lease) = claim else { return Ok(None) };
        tracing::debug!(
            reactor.name = reactor,
            node.name = node,
            lease.fence = lease.fence,
            worker.name = worker,
            "leased",
        );

        // Everything below is content-addressed or append-only, so it needs no lock.
        let program = program
            .node(node)
            .ok_or_else(|| Error::NoNode { reactor: reactor.to_owned(), node: node.to_owned() })?;
        let mut inputs = Vec::with_capacity(lease.basis.pins.len());
        for pin in &lease.basis.pins {
            let files = match &pin.tree {
                Some(tree) => Some(self.files(reactor, tree).await?),
                None => None,
            };
            let narrowed = files.map(|f| narrow(&f, &pin.source.facet)).transpose();
            inputs.push(narrowed.map_err(|error| self.damaged(reactor, error))?);
        }
        let prior = match &prior {
            Some(tree) => Some(self.files(reactor, tree).await?),
            None => None,
        };
        let checks = program.postconditions.checks.iter().filter(|c| c.judge == Judge::Render);
        Ok(Some(RenderLease {
            lease_ms: u64::try_from(lease.expires_at - self.clock.now()).unwrap_or(0),
            contract: program.contract.clone(),
            attest: checks.map(|c| (c.id.clone(), c.text.clone())).collect(),
            inputs,
            prior,
            events: self.pinned_events(reactor, node, lease.events).await?,
            lease: *lease,
        }))
    }

    async fn pinned_events(
        &self,
        reactor: &str,
        node: &str,
        (from, to): (u64, u64),
    ) -> Result<Vec<Vec<u8>>, Error> {
        let mut events = Vec::new();
        let mut next = from;
        while next < to {
            let end = to.min(next + EVENTS_PAGE);
            let page = self.store.events(reactor, node, next, end).await?;
            if page.len() as u64 != end - next {
                return Err(Error::Damaged {
                    reactor: reactor.to_owned(),
                    what: format!("events {next} to {end} of `{node}` are not all there"),
                });
            }
            events.extend(page.into_iter().map(|row| row.bytes));
            next = end;
        }
        Ok(events)
    }

    /// Extends a lease; `false` tells the worker to stop.
    ///
    /// # Errors
    /// No such reactor or node, or the store.
    pub async fn heartbeat(&self, reactor: &str, node: &str, fence: u64) -> Result<bool, Error> {
        let mut op = self.begin(reactor).await?;
        let Ok(v) = op.node(node) else {
            // Retired by a new epoch: whoever renders it has to stop.
            op.leave();
            return Ok(false);
        };
        let alive = op.decide(|core, _, now| core.heartbeat(now, v, fence)).is_some();
        op.finish().await?;
        Ok(alive)
    }
}
