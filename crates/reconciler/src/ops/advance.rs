//! Advance: what the passing of time alone decides. Leases end, retries come due, patience runs out.

use crate::{Millis, NodeIx, Reactor, decision::Cost, draft::Seal, ops::Outcome, pending::Cause};

impl Reactor {
    /// Does what is due at `now`; see [`Reactor::next_deadline`]. Answers whether anything was.
    pub fn advance(&mut self, seal: &mut dyn Seal, now: Millis) -> bool {
        let due = self.due(now);
        if due.is_empty() {
            return false;
        }
        for v in &due {
            self.expire(seal, now, *v);
        }
        let retries: Vec<NodeIx> = due
            .iter()
            .copied()
            .filter(|v| self.node(*v).retry.as_ref().is_some_and(|r| r.not_before <= now))
            .collect();
        if !retries.is_empty() {
            self.wave += 1;
        }
        for v in retries {
            self.unpark(v);
        }
        self.work.extend(due);
        self.finish(seal, now);
        true
    }

    fn expire(&mut self, seal: &mut dyn Seal, now: Millis, v: NodeIx) {
        let node = &mut self.nodes[v.at()];
        if let Some(flight) = node.flight.take_if(|f| f.expires_at <= now) {
            let reason = format!("the lease of worker `{}` expired", flight.worker);
            let outcome = Outcome::Infrastructure { reason, cost: Cost::default() };
            self.land(seal, now, v, flight, outcome);
        }
    }

    /// Ends the wait for another attempt: everything the node owes enters as the newest wave.
    pub(super) fn unpark(&mut self, v: NodeIx) {
        let wave = self.wave;
        let node = &mut self.nodes[v.at()];
        let Some(retry) = node.retry.take() else {
            return;
        };
        node.pending_attempt = Some((retry.attempts, retry.spent));
        // The prior truth stood until now, so what an ancestor publishes late belongs to now as well.
        node.since = node.since.max(wave);
        for cause in retry.causes {
            self.mark(v, Cause { wave, ..cause });
        }
    }
}
