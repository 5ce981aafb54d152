//! What operators command: retry, force, cancel.

use prose_ir::Address;

use crate::{
    Millis, NodeIx, Reactor,
    basis::CutKind,
    decision::{Cost, Failure, FailureClass},
    draft::Seal,
    graph::Role,
    pending::{Cause, CauseKind},
    state::Flight,
};

/// Why a command makes no sense for a node as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Retry, but the last receipt is no failure and no retry is waiting.
    #[error("its last receipt is not a failure")]
    NotFailed,
    /// Cancel, but nothing is running and no retry is waiting.
    #[error("nothing is running")]
    NotRunning,
    /// A gateway whose events are its truth is never rendered.
    #[error("it publishes its events as they come and is never rendered")]
    Passthrough,
    /// Retry, but the render is running already.
    #[error("a render is running")]
    InFlight,
}

impl Reactor {
    /// Renders again after a failure, without waiting for a backoff.
    ///
    /// # Errors
    /// When there is nothing to retry.
    pub fn retry(&mut self, seal: &mut dyn Seal, now: Millis, v: NodeIx) -> Result<(), Refused> {
        self.is_rendered(v)?;
        let node = self.node(v);
        if node.flight.is_some() {
            return Err(Refused::InFlight);
        }
        if node.retry.is_none() && !node.has_failed() {
            return Err(Refused::NotFailed);
        }
        self.wave += 1;
        self.unpark(v);
        self.mark(v, Cause { wave: self.wave, kind: CauseKind::Retry, receipt: None });
        self.finish(seal, now);
        Ok(())
    }

    /// Renders even if nothing moved.
    ///
    /// # Errors
    /// For a node that is never rendered.
    pub fn force(&mut self, seal: &mut dyn Seal, now: Millis, v: NodeIx) -> Result<(), Refused> {
        self.is_rendered(v)?;
        self.wave += 1;
        self.nodes[v.at()].forced = true;
        self.unpark(v);
        self.mark(v, Cause { wave: self.wave, kind: CauseKind::External, receipt: None });
        self.finish(seal, now);
        Ok(())
    }

    /// Stops a running render, or the wait for another attempt. The prior truth stands.
    ///
    /// # Errors
    /// When there is nothing to stop.
    pub fn cancel(
        &mut self,
        seal: &mut dyn Seal,
        now: Millis,
        v: NodeIx,
    ) -> Result<Address, Refused> {
        let node = self.node(v);
        let flight = match (&node.flight, &node.retry) {
            (Some(flight), _) => flight.clone(),
            (None, Some(retry)) => Flight {
                fence: node.fence,
                worker: String::new(),
                expires_at: now,
                basis: self.basis(v, now, self.wave, CutKind::Exact),
                events: (node.inbox.consumed, node.inbox.consumed),
                causes: retry.causes.clone(),
                forced: false,
                attempt: retry.attempts,
                spent: retry.spent.clone(),
            },
            (None, None) => return Err(Refused::NotRunning),
        };
        let node = &mut self.nodes[v.at()];
        node.flight = None;
        if node.retry.take().is_some() {
            // The prior truth stood until now, so what comes late belongs to now as well.
            node.since = node.since.max(self.wave);
        }
        let failure = Failure::new(FailureClass::Cancelled, "cancelled by an operator");
        self.nodes[v.at()].forced = false;
        let receipt = self.fail(seal, v, flight, failure, Cost::default());
        self.touch(v);
        self.work.insert(v);
        self.revisit_below(v);
        self.finish(seal, now);
        Ok(receipt)
    }

    fn is_rendered(&self, v: NodeIx) -> Result<(), Refused> {
        match self.graph.spec(v).role {
            Role::Passthrough => Err(Refused::Passthrough),
            Role::Rendered | Role::External => Ok(()),
        }
    }
}
