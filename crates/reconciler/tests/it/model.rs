//! Small graphs exhaustively: every order of events, claims, commits, deaths of workers, expiries,
//! late commits and a new epoch, with the real code of the core as the transition function.

use std::{
    hash::{Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
};

use prose_ir::ATOMIC;
use prose_reconciler::Policy;
use stateright::{Checker, Model, Property};

use crate::{sim::Sim, world::Recipe};

const WORKERS: usize = 2;

struct Small {
    recipe: Recipe,
    events: u8,
    deaths: u8,
    mounts: u8,
}

#[derive(Debug, Clone)]
struct State {
    sim: Sim,
    events: u8,
    deaths: u8,
    mounts: u8,
    /// The first rule that a step broke.
    broken: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Ingest {
        gateway: usize,
        truth: u64,
    },
    Claim {
        node: usize,
    },
    Commit {
        lease: usize,
    },
    /// The worker dies, or falls silent: its lease runs out, and its commit may come late or never.
    Expire,
    Mount {
        node: usize,
    },
}

impl State {
    /// Everything that decides what can happen from here.
    fn key(&self) -> impl Hash + PartialEq + use<> {
        let states: Vec<_> = self.sim.reactor.states().map(|(_, s)| s.clone()).collect();
        let leases: Vec<_> = self.sim.leases.iter().map(|(i, l)| (*i, l.fence)).collect();
        let history = format!("{:?}", self.sim.history);
        let left = (self.events, self.deaths, self.mounts, self.broken.clone());
        (states, leases, history, left, self.sim.reactor.wave())
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key().hash(hasher);
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Model for Small {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        // Leases end at the first look at the clock, so that time is only ever one step away.
        let policy = Policy {
            lease_ms: 1,
            attempts_max: 3,
            backoff_ms: 1,
            backoff_max_ms: 1,
            patience_ms: i64::MAX / 2,
        };
        let sim = Sim::new(self.recipe.clone(), policy);
        let (events, deaths, mounts) = (self.events, self.deaths, self.mounts);
        vec![State { sim, events, deaths, mounts, broken: None }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        if state.broken.is_some() {
            return;
        }
        if state.events > 0 {
            for gateway in 0..self.recipe.gateways {
                actions.extend([1, 6].map(|truth| Step::Ingest { gateway, truth }));
            }
        }
        for node in state.sim.rendered_nodes() {
            let claimable = state.sim.reactor.node(state.sim.ix(node)).ready_since.is_some();
            if claimable && state.sim.leases.len() < WORKERS {
                actions.push(Step::Claim { node });
            }
            if state.mounts > 0 {
                actions.push(Step::Mount { node });
            }
        }
        actions.extend((0..state.sim.leases.len()).map(|lease| Step::Commit { lease }));
        let retry = state.sim.reactor.next_deadline().is_some();
        let flying = state.sim.rendered_nodes().any(|i| is_flying(state, i));
        if retry && (!flying || state.deaths > 0) {
            actions.push(Step::Expire);
        }
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut next = last.clone();
        let done = catch_unwind(AssertUnwindSafe(|| {
            take(&mut next, step);
            next.sim.observe();
            next.sim.check();
            next.sim.forget_checked();
        }));
        if let Err(panic) = done {
            let text = panic.downcast_ref::<String>().cloned();
            next.broken = Some(text.unwrap_or_else(|| "a panic without a text".to_owned()));
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            // Assertions inside the steps: single flight, fenced commit, memo, chain, no glitch.
            Property::always("every rule holds at every step", |_, s: &State| s.broken.is_none()),
            Property::always("no wake is lost", |_, s: &State| {
                let someone_is_due = s.sim.reactor.ready().count() > 0
                    || s.sim.reactor.next_deadline().is_some()
                    || !s.sim.leases.is_empty();
                s.broken.is_some() || s.sim.reactor.is_quiet() || someone_is_due
            }),
            Property::sometimes("a late commit comes", |_, s: &State| {
                s.sim
                    .leases
                    .iter()
                    .any(|(i, l)| s.sim.reactor.flight(s.sim.ix(*i), l.fence).is_err())
            }),
            Property::sometimes("all is quiet after all that can happen", |_, s: &State| {
                s.events == 0 && s.sim.reactor.is_quiet()
            }),
        ]
    }
}

fn is_flying(state: &State, i: usize) -> bool {
    state.sim.reactor.node(state.sim.ix(i)).flight.is_some()
}

fn take(state: &mut State, step: Step) {
    match step {
        Step::Ingest { gateway, truth } => {
            state.events -= 1;
            state.sim.ingest(gateway, truth);
        }
        Step::Claim { node } => {
            let quiet_above = state.sim.is_quiet_above(node);
            let leased = state.sim.claim(node);
            let left = &state.sim.reactor.node(state.sim.ix(node)).dirty;
            assert!(!leased || !quiet_above || left.is_empty(), "one render must take all wakes");
        }
        Step::Commit { lease } => state.sim.commit(lease, 2),
        Step::Expire => {
            if state.sim.rendered_nodes().any(|i| is_flying(state, i)) {
                state.deaths -= 1;
            }
            let now = state.sim.now;
            state.sim.advance(now + 1);
            // The clock stands still between steps: what ran out of time has done so.
            state.sim.now = now;
            state.sim.rewind(now);
        }
        Step::Mount { node } => {
            state.mounts -= 1;
            state.sim.recipe.contracts[node] += 1;
            state.sim.mount();
        }
    }
}

fn explore(recipe: Recipe, events: u8, deaths: u8, mounts: u8) {
    let model = Small { recipe, events, deaths, mounts };
    let checker = model.checker().threads(2).spawn_bfs().join();
    eprintln!("{} states", checker.unique_state_count());
    checker.assert_properties();
}

#[test]
fn a_chain() {
    explore(Recipe::new(1, vec![(vec![(0, ATOMIC)], 0), (vec![(1, "low")], 2)]), 3, 2, 0);
}

#[test]
fn an_uneven_diamond() {
    let recipe = Recipe::new(
        1,
        vec![(vec![(0, "low")], 3), (vec![(1, ATOMIC)], 0), (vec![(0, ATOMIC), (2, ATOMIC)], 0)],
    );
    explore(recipe, 3, 1, 0);
}

#[test]
fn a_diamond_whose_worker_dies() {
    let recipe = Recipe::new(1, vec![(vec![(0, ATOMIC)], 2), (vec![(0, ATOMIC), (1, ATOMIC)], 0)]);
    explore(recipe, 3, 2, 0);
}

#[test]
fn two_sources_meet_in_a_new_epoch() {
    let recipe = Recipe::new(2, vec![(vec![(0, ATOMIC)], 0), (vec![(1, "low"), (2, ATOMIC)], 0)]);
    explore(recipe, 2, 1, 1);
}

#[test]
fn a_reader_of_one_facet_among_two_sources() {
    let recipe = Recipe::new(
        2,
        vec![(vec![(0, "high"), (1, "low")], 0), (vec![(2, "low"), (1, ATOMIC)], 2)],
    );
    explore(recipe, 2, 1, 0);
}
