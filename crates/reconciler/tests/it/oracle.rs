//! The sequential run that a concurrent one is held against: one wave at a time, every node at once.

use std::collections::BTreeMap;

use prose_reconciler::Wave;

use crate::world::{Recipe, Truth, render, token};

/// What the outside world and the sessions did, as far as a sequential run has to be told.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// (node, wave) -> the event's truth.
    pub events: BTreeMap<(usize, Wave), Truth>,
    /// (node, wave) -> its contract from there on, and that the wave wakes it.
    pub contracts: BTreeMap<(usize, Wave), u64>,
    /// (node, wave): woken without anything having moved (a retry, a command).
    pub wakes: BTreeMap<(usize, Wave), ()>,
    /// Stretches in which a given truth stands whatever moved: a render failed, was dropped, or ran
    /// on a mixture, and no other has replaced its outcome yet.
    pub stale: Vec<Stale>,
}

/// From wave `from` up to, not including, `to`, the truth of `node` is `prior`.
#[derive(Debug, Clone)]
pub struct Stale {
    pub node: usize,
    pub from: Wave,
    pub to: Option<Wave>,
    pub prior: Option<Truth>,
}

impl History {
    /// `prior` stands from `from` on.
    pub fn went_stale(&mut self, node: usize, from: Wave, prior: Option<Truth>) {
        if !self.is_stale_at_the_end(node) {
            self.stale.push(Stale { node, from, to: None, prior });
        }
    }

    /// A render that consumed from `first` on replaces the prior truth. What woke it there may be
    /// a move that the sequential run saw earlier, in waves that were coalesced away here.
    pub fn recovered(&mut self, node: usize, first: Wave) {
        for stale in self.stale.iter_mut().filter(|s| s.node == node && s.to.is_none()) {
            stale.to = Some(first);
            self.wakes.insert((node, first), ());
        }
    }

    fn stale_at(&self, node: usize, wave: Wave) -> Option<&Stale> {
        let within = |s: &&Stale| s.from <= wave && s.to.is_none_or(|to| wave < to);
        self.stale.iter().filter(|s| s.node == node).find(within)
    }

    pub fn is_stale_at_the_end(&self, node: usize) -> bool {
        self.stale.iter().any(|s| s.node == node && s.to.is_none())
    }
}

/// The truth of every node at every wave from zero; `[node][wave]`.
pub fn sequential(recipe: &Recipe, history: &History, last: Wave) -> Vec<Vec<Option<Truth>>> {
    let mut ideal: Vec<Vec<Option<Truth>>> = vec![vec![None]; recipe.len()];
    let mut contracts = vec![0; recipe.len()];
    for wave in 1..=last {
        let now = wave as usize;
        for v in 0..recipe.len() {
            let mut woken = history.wakes.contains_key(&(v, wave));
            if let Some(contract) = history.contracts.get(&(v, wave)) {
                contracts[v] = *contract;
                woken = true;
            }
            let prior = ideal[v][now - 1];
            let at = |producer: usize, facet: &str, wave: usize| {
                ideal[producer][wave].map(|truth| token(facet, truth))
            };
            let inputs = recipe.inputs(v);
            woken |= inputs.iter().any(|(p, f)| at(*p, f, now) != at(*p, f, now - 1));
            let read: Vec<_> = inputs.iter().map(|(p, f)| at(*p, f, now)).collect();
            let next = if let Some(truth) = history.events.get(&(v, wave)) {
                Some(*truth)
            } else if let Some(stale) = history.stale_at(v, wave) {
                stale.prior
            } else if v < recipe.gateways || !woken || read.iter().any(Option::is_none) {
                prior
            } else {
                Some(render(&recipe.name(v), contracts[v], recipe.coarse(v), &read))
            };
            ideal[v].push(next);
        }
    }
    ideal
}
