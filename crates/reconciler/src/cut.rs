//! Waves and cuts: the newest moment at which everything above a node is known.
//!
//! A cut for a node is a wave `w` with: `w >=` its lowest pending wave; no ancestor is unsettled at
//! or before `w`; `w` lies in no ancestor's gap. A node renders at its newest cut, on the versions
//! that were in force at `w`.

use prose_ir::Fingerprint;

use crate::{
    Input, NodeIx, Reactor, Wave,
    basis::{MemoKey, Pin},
    state::Version,
};

/// What a look for a cut found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Nothing is pending.
    Idle,
    /// An ancestor is unsettled at or before the lowest pending wave.
    Unsettled,
    /// Upstream has passed, but its gaps do not line up.
    Gaps,
    /// The newest cut.
    At(Wave),
}

impl Reactor {
    /// The newest wave at which nothing above `v` is unsettled.
    fn frontier(&self, v: NodeIx) -> Wave {
        let above = self.graph.ancestors(v).intersection(&self.busy);
        let lowest = above.filter_map(|a| self.nodes[a].unsettled()).min();
        lowest.map_or(self.wave, |w| w - 1)
    }

    /// Looks for the newest cut of a node that is not in flight.
    pub(crate) fn look(&self, v: NodeIx) -> Look {
        let Some(lowest) = self.nodes[v.at()].dirty.lowest() else {
            return Look::Idle;
        };
        let mut wave = self.frontier(v);
        if wave < lowest {
            return Look::Unsettled;
        }
        while let Some(first) = self.gap_above(v, wave) {
            // Waves are numbered from one, so a gap never begins at zero.
            wave = first - 1;
            if wave < lowest {
                return Look::Gaps;
            }
        }
        Look::At(wave)
    }

    /// The first wave of a gap of an ancestor of `v` that contains `wave`.
    fn gap_above(&self, v: NodeIx, wave: Wave) -> Option<Wave> {
        let above = self.graph.ancestors(v).intersection(&self.gappy);
        above
            .flat_map(|a| &self.nodes[a].history)
            .map(|version| version.waves)
            .filter(|gap| gap.first <= wave && wave < gap.at)
            .map(|gap| gap.first)
            .min()
    }

    /// The ancestors that keep `v` from a cut: unsettled, or with a gap at a pending wave.
    pub(crate) fn in_the_way(&self, v: NodeIx) -> Vec<NodeIx> {
        let lowest = self.nodes[v.at()].dirty.lowest().unwrap_or(0);
        let above = self.graph.ancestors(v);
        above
            .ones()
            .filter(|a| {
                let node = &self.nodes[*a];
                node.unsettled().is_some()
                    || node
                        .history
                        .iter()
                        .any(|h| h.waves.first < h.waves.at && h.waves.at > lowest)
            })
            .map(NodeIx::new)
            .collect()
    }

    fn in_force(&self, producer: NodeIx, wave: Wave) -> Option<&Version> {
        self.nodes[producer.at()].history.iter().rev().find(|version| version.waves.at <= wave)
    }

    /// What `v` reads at `wave`.
    pub(crate) fn pins(&self, v: NodeIx, wave: Wave) -> Pins<'_> {
        let spec = self.graph.spec(v);
        let versions =
            self.graph.producers(v).iter().map(|producer| self.in_force(*producer, wave)).collect();
        Pins { inputs: &spec.inputs, versions }
    }
}

/// The versions of a node's inputs that are in force at one wave.
pub(crate) struct Pins<'a> {
    inputs: &'a [Input],
    versions: Vec<Option<&'a Version>>,
}

impl<'a> Pins<'a> {
    fn tokens(
        &self,
    ) -> impl Iterator<Item = (&'a Input, Option<&'a Version>, Option<&'a Fingerprint>)> {
        self.inputs.iter().zip(&self.versions).map(|(input, version)| {
            let token = version.and_then(|v| v.fingerprints.get(&input.source.facet));
            (input, *version, token)
        })
    }

    /// The places of required inputs that were never published.
    pub(crate) fn missing(&self) -> Vec<usize> {
        self.tokens()
            .enumerate()
            .filter(|(_, (input, _, token))| token.is_none() && !input.optional && input.wakes)
            .map(|(i, _)| i)
            .collect()
    }

    /// The latest wave at which one of the inputs came into force, but not before `first`.
    pub(crate) fn in_force_from(&self, first: Wave) -> Wave {
        let waking = self.tokens().filter(|(input, ..)| input.wakes);
        waking.filter_map(|(_, version, _)| version).map(|v| v.waves.at).fold(first, u64::max)
    }

    pub(crate) fn to_vec(&self) -> Vec<Pin> {
        self.tokens()
            .map(|(input, version, token)| Pin {
                source: input.source.clone(),
                fingerprint: token.cloned(),
                receipt: version.map(|v| v.receipt.clone()),
                tree: version.map(|v| v.tree.clone()),
                wakes: input.wakes,
            })
            .collect()
    }

    /// Whether `memo` was decided on exactly these inputs.
    pub(crate) fn equal(&self, memo: &MemoKey) -> bool {
        let mut known = memo.inputs.iter();
        self.tokens().filter(|(input, ..)| input.wakes).all(|(input, _, token)| {
            known.next().is_some_and(|(source, fingerprint)| {
                *source == input.source && fingerprint.as_ref() == token
            })
        }) && known.next().is_none()
    }
}
