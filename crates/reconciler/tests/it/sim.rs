//! Random runs: events, claims, commits, failures, crashes, late commits and new epochs in any order.

use std::collections::BTreeMap;

use prose_reconciler::{
    Arrival, Claim, Cost, CutKind, Failure, FailureClass, Lease, NodeIx, NodeState, Outcome,
    Policy, Reactor, Status, Wave,
};

use crate::{
    oracle::{History, sequential},
    world::{Ledger, Recipe, Truth, published, read, render, topology},
};

#[derive(Debug, Clone)]
pub struct Sim {
    pub recipe: Recipe,
    pub reactor: Reactor,
    pub ledger: Ledger,
    pub history: History,
    pub now: i64,
    /// Leases that were given out and not yet committed, dead ones included.
    pub leases: Vec<(usize, Lease)>,
    /// Tokens of sessions whose commit was accepted.
    pub fresh_spent: u64,
    epoch: u64,
    /// The truth that each node has published last.
    truths: Vec<Option<Truth>>,
    observed: usize,
}

pub const SESSION_TOKENS: u64 = 7;

impl Sim {
    pub fn new(recipe: Recipe, policy: Policy) -> Self {
        let mut sim = Self {
            reactor: Reactor::empty(policy),
            ledger: Ledger::default(),
            history: History::default(),
            now: 1_000,
            leases: Vec::new(),
            fresh_spent: 0,
            epoch: 0,
            truths: vec![None; recipe.len()],
            observed: 0,
            recipe,
        };
        sim.mount();
        sim
    }

    pub fn ix(&self, i: usize) -> NodeIx {
        self.reactor.graph().find(&self.recipe.name(i)).unwrap()
    }

    fn place(&self, name: &str) -> Option<usize> {
        (0..self.recipe.len()).find(|i| self.recipe.name(*i) == name)
    }

    fn ancestors(&self, i: usize) -> std::collections::BTreeSet<usize> {
        let direct = self.recipe.inputs(i).iter().map(|(p, _)| *p);
        direct.flat_map(|p| self.ancestors(p).into_iter().chain([p])).collect()
    }

    pub fn rendered_nodes(&self) -> std::ops::Range<usize> {
        self.recipe.gateways..self.recipe.len()
    }

    /// Mounts the recipe as it stands; new and changed nodes drop what they were doing.
    pub fn mount(&mut self) {
        self.epoch += 1;
        let wave = self.reactor.wave() + 1;
        let graph = self.recipe.graph();
        for i in 0..self.recipe.len() {
            let old = self.reactor.graph().find(&self.recipe.name(i));
            let old = old.map(|v| (self.reactor.graph().spec(v).clone(), self.reactor.node(v)));
            let new = graph.spec(graph.find(&self.recipe.name(i)).unwrap());
            if old.as_ref().map(|(spec, _)| spec) == Some(new) || i < self.recipe.gateways {
                continue;
            }
            self.history.contracts.insert((i, wave), self.recipe.contracts[i]);
            if let Some((_, node)) = old {
                // What was not settled above it before the mount is settled under the new contract.
                let above = self.ancestors(i).into_iter().map(|a| self.reactor.node(self.ix(a)));
                let above = above.filter_map(prose_reconciler::NodeState::unsettled);
                let owed = above.chain(node.unsettled()).min();
                let parked = node.retry.is_some();
                if let Some(first) = owed {
                    self.history.went_stale(i, first, self.truths[i]);
                }
                if owed.is_some() || parked || node.has_failed() {
                    self.history.recovered(i, wave);
                }
            }
        }
        let truth = topology(self.epoch);
        self.reactor.mount(&mut self.ledger, self.now, graph, self.epoch, truth, Vec::new());
    }

    pub fn ingest(&mut self, gateway: usize, truth: u64) {
        let arrival = Arrival {
            node: self.ix(gateway),
            event: prose_ir::Fingerprint::of(format!("event {truth}").as_bytes()),
            truth: Some(Ok(published(truth))),
        };
        self.history.events.insert((gateway, self.reactor.wave() + 1), truth);
        self.reactor.ingest(&mut self.ledger, self.now, vec![arrival]);
    }

    /// Claims node `i` if it can be claimed.
    pub fn claim(&mut self, i: usize) -> bool {
        let v = self.ix(i);
        let flying = self.reactor.node(v).flight.is_some();
        let unmoved = |sim: &Self, lease: &Lease| {
            let node = sim.reactor.node(v);
            let memo = node.memo.as_ref();
            memo.is_some_and(|m| {
                let tokens: Vec<_> = m.inputs.iter().map(|(_, token)| token.clone()).collect();
                m.contract == lease.basis.contract && tokens == read(&lease.basis.pins)
            })
        };
        let was = (self.reactor.node(v).has_failed(), self.reactor.node(v).forced);
        match self.reactor.claim(&mut self.ledger, self.now, v, "worker") {
            Claim::Leased(lease) => {
                assert!(!flying, "{} was leased twice", self.recipe.name(i));
                assert!(
                    was.0 || was.1 || !unmoved(self, &lease),
                    "a session for an unmoved key of {}",
                    self.recipe.name(i)
                );
                self.leases.push((i, *lease));
                true
            }
            Claim::InFlight => {
                assert!(flying);
                false
            }
            Claim::Skipped(_) | Claim::NothingToDo => false,
        }
    }

    /// Commits the `n`th lease that is out; `result` chooses how it went.
    pub fn commit(&mut self, n: usize, result: u8) {
        let (i, lease) = self.leases.remove(n);
        let v = self.ix(i);
        let alive = self.reactor.flight(v, lease.fence).is_ok();
        let before: Vec<_> = self.reactor.states().map(|(_, s)| s.clone()).collect();
        let cost = Cost { fresh: SESSION_TOKENS, ..Cost::default() };
        let truth = render(
            &self.recipe.name(i),
            self.recipe.contracts[i],
            self.recipe.coarse(i),
            &read(&lease.basis.pins),
        );
        let outcome = match result {
            0 => Outcome::Failed { failure: Failure::new(FailureClass::Render, "no"), cost },
            1 => Outcome::Infrastructure { reason: "crash".into(), cost },
            _ => Outcome::Rendered { truth: published(truth), diff: None, cost },
        };
        let subscribers_before = self.subscribers_dirty(i);
        let answer = self.reactor.commit(&mut self.ledger, self.now, v, lease.fence, outcome);
        assert_eq!(answer.is_ok(), alive);
        if !alive {
            let after: Vec<_> = self.reactor.states().map(|(_, s)| s.clone()).collect();
            assert_eq!(before, after, "a late commit changed something");
            return;
        }
        self.fresh_spent += SESSION_TOKENS;
        if result < 2 {
            self.history.went_stale(i, lease.basis.waves.first, self.truths[i]);
            if result == 0 {
                // It may let a subscriber settle, but makes nothing pending that was not.
                let after = self.subscribers_dirty(i);
                let woken = subscribers_before.iter().zip(&after);
                let woken = woken.filter(|(b, a)| a.is_some() && (b.is_none() || a < b));
                assert_eq!(woken.count(), 0, "a failure woke somebody");
            }
        } else {
            let waves = lease.basis.waves;
            if lease.basis.cut == CutKind::Mixed {
                self.history.went_stale(i, waves.first, self.truths[i]);
                self.history.recovered(i, waves.at);
                self.history.went_stale(i, waves.at, Some(truth));
            } else {
                self.history.recovered(i, waves.first);
            }
            self.truths[i] = Some(truth);
        }
    }

    fn subscribers_dirty(&self, i: usize) -> Vec<Option<Wave>> {
        let reads = |u: &usize| self.recipe.inputs(*u).iter().any(|(p, _)| *p == i);
        let direct = self.rendered_nodes().filter(reads);
        direct.map(|u| self.reactor.node(self.ix(u)).dirty.lowest()).collect()
    }

    /// Lets time pass up to `now`, expiring leases and firing retries.
    pub fn advance(&mut self, now: i64) {
        self.now = now;
        let flying: Vec<_> = self
            .rendered_nodes()
            .filter_map(|i| {
                let node = self.reactor.node(self.ix(i));
                let flight = node.flight.as_ref()?;
                (flight.expires_at <= now).then_some((i, flight.basis.waves.first))
            })
            .collect();
        let parked: Vec<_> = self
            .rendered_nodes()
            .filter(|i| {
                let node = self.reactor.node(self.ix(*i));
                node.retry.as_ref().is_some_and(|r| r.not_before <= now)
            })
            .collect();
        for (i, first) in flying {
            self.history.went_stale(i, first, self.truths[i]);
        }
        self.reactor.advance(&mut self.ledger, now);
        for i in parked {
            self.history.wakes.insert((i, self.reactor.wave()), ());
        }
    }

    pub fn retry(&mut self, i: usize) {
        let v = self.ix(i);
        if self.reactor.retry(&mut self.ledger, self.now, v).is_ok() {
            self.history.wakes.insert((i, self.reactor.wave()), ());
        }
    }

    pub fn force(&mut self, i: usize) {
        let v = self.ix(i);
        self.reactor.force(&mut self.ledger, self.now, v).unwrap();
        self.history.wakes.insert((i, self.reactor.wave()), ());
    }

    pub fn cancel(&mut self, i: usize) {
        let v = self.ix(i);
        let first = self.reactor.node(v).flight.as_ref().map(|f| f.basis.waves.first);
        if self.reactor.cancel(&mut self.ledger, self.now, v).is_ok()
            && let Some(first) = first
        {
            self.history.went_stale(i, first, self.truths[i]);
        }
    }

    /// Throws the reactor away and rebuilds it from the text of its states, as after a crash.
    pub fn restart(&mut self) {
        self.restart_with(|_| ());
    }

    fn restart_with(&mut self, change: impl Fn(&mut NodeState)) {
        let reactor = &self.reactor;
        let topology = reactor.state(prose_ir::TOPOLOGY_NODE).map(|s| (prose_ir::TOPOLOGY_NODE, s));
        let all = reactor.states().map(|(n, s)| (n.as_ref(), s)).chain(topology);
        let stored = all
            .map(|(name, state)| {
                let text = serde_json::to_string(state).unwrap();
                let mut state = serde_json::from_str(&text).unwrap();
                change(&mut state);
                (name.into(), state)
            })
            .collect();
        let (graph, policy) = (reactor.graph().clone(), *reactor.policy());
        self.reactor = Reactor::restore(graph, policy, reactor.epoch(), reactor.wave(), stored);
    }

    /// Works until nothing is left: retries included, no more crashes.
    pub fn drain(&mut self) {
        for _ in 0..10_000 {
            let ready: Vec<_> = self.reactor.ready().collect();
            if let Some(v) = ready.first() {
                let name = self.reactor.graph().spec(*v).name.clone();
                let i = self.place(&name).unwrap();
                self.claim(i);
            } else if !self.leases.is_empty() {
                self.commit(0, 2);
            } else if let Some(deadline) = self.reactor.next_deadline() {
                self.advance(deadline.max(self.now));
            } else {
                return;
            }
            self.observe();
        }
        panic!("never came to rest");
    }

    /// Whether nothing above node `i` is unsettled or has gaps.
    pub fn is_quiet_above(&self, i: usize) -> bool {
        self.ancestors(i).into_iter().all(|a| {
            let node = self.reactor.node(self.ix(a));
            node.unsettled().is_none() && node.history.iter().all(|h| h.waves.first == h.waves.at)
        })
    }

    /// Drops receipts that were held against the sequential run; their waves are settled for good.
    pub fn forget_checked(&mut self) {
        self.ledger.entries.clear();
        self.observed = 0;
    }

    /// Sets the clock back to `now` in the state as well, so that runs that differ only in how much
    /// time has passed are one state.
    pub fn rewind(&mut self, now: i64) {
        self.now = now;
        self.restart_with(|state| {
            if let Some(ready) = &mut state.ready_since {
                *ready = now;
            }
            if let Some(retry) = &mut state.retry {
                retry.not_before = now + 1;
            }
        });
    }

    /// Tells the sequential run of skips on a mixture, which no lease shows.
    pub fn observe(&mut self) {
        for (place, draft, _) in &self.ledger.entries[self.observed..] {
            if draft.status == Status::Skipped
                && draft.basis.cut == CutKind::Mixed
                && let Some(i) = self.place(&place.node)
            {
                self.history.went_stale(i, draft.basis.waves.first, self.truths[i]);
            }
        }
        self.observed = self.ledger.entries.len();
    }

    /// Holds every receipt, and the state at rest, against the sequential run.
    pub fn check(&self) {
        let last = self.reactor.wave();
        let ideal = sequential(&self.recipe, &self.history, last);
        let truth_at = |i: usize, wave: Wave| ideal[i][wave as usize];
        for (place, draft, _) in &self.ledger.entries {
            let Some(i) = self.place(&place.node) else {
                continue;
            };
            if draft.basis.cut == CutKind::Mixed || draft.status == Status::Failed {
                continue;
            }
            if i < self.recipe.gateways {
                continue;
            }
            let wave = draft.basis.through;
            for (pin, (producer, facet)) in draft.basis.pins.iter().zip(self.recipe.inputs(i)) {
                let expected = truth_at(*producer, wave).map(|t| crate::world::token(facet, t));
                assert_eq!(
                    pin.fingerprint, expected,
                    "{} read a {facet} of {} that is not of wave {wave}",
                    place.node, pin.source.producer
                );
            }
            let expected = truth_at(i, wave).map(crate::world::tokens);
            assert_eq!(
                Some(draft.fingerprints.as_ref().clone()),
                expected,
                "{} {:?} at wave {wave} is not what the sequential run has",
                place.node,
                draft.status
            );
        }
        for i in self.rendered_nodes() {
            let node = self.reactor.node(self.ix(i));
            let open = !self.reactor.is_quiet() || !node.waiting_for.is_empty();
            if open || self.history.is_stale_at_the_end(i) {
                continue;
            }
            let current = node.current().map(|c| c.fingerprints.as_ref().clone());
            assert_eq!(
                current,
                truth_at(i, last).map(crate::world::tokens),
                "{} did not converge",
                self.recipe.name(i)
            );
        }
    }

    pub fn fresh_by_surprise(&self) -> BTreeMap<prose_reconciler::Surprise, u64> {
        let mut sums = BTreeMap::new();
        for (_, draft, _) in &self.ledger.entries {
            *sums.entry(draft.surprise).or_default() += draft.cost.fresh;
        }
        sums
    }
}
