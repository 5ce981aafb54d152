//! The pending waves of a dirty node, and why each is pending.

use prose_ir::Address;
use serde::{Deserialize, Serialize};

use crate::{Wave, decision::Surprise};

/// Waves are kept exactly up to this many separate stretches. Beyond, the two closest are joined:
/// the node then also looks at waves that did not concern it, which costs a skip, never a wake.
const SPANS_MAX: usize = 64;

/// Causes kept for the receipt; the first ones and the newest explain a wake, the rest is noise.
const CAUSES_MAX: usize = 16;

/// Why a node was woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// Its contract, or what it is wired to, changed.
    Contract,
    /// The outside world: an event, or an operator's command to render.
    External,
    /// A facet it reads moved.
    Input,
    /// A person asked to try again.
    Retry,
}

impl CauseKind {
    pub(crate) fn surprise(self) -> Surprise {
        match self {
            Self::Contract => Surprise::Contract,
            Self::External => Surprise::External,
            Self::Input => Surprise::Input,
            Self::Retry => Surprise::Retry,
        }
    }
}

/// One reason to reconcile, and the receipt that gave it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cause {
    /// The wave at which it became pending.
    pub wave: Wave,
    /// What kind of reason.
    pub kind: CauseKind,
    /// The receipt that moved, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Address>,
}

/// The pending waves; empty when there is nothing to do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pending {
    /// Disjoint closed stretches of waves, ascending.
    spans: Vec<(Wave, Wave)>,
    causes: Vec<Cause>,
}

impl Pending {
    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The lowest pending wave.
    pub fn lowest(&self) -> Option<Wave> {
        self.spans.first().map(|(first, _)| *first)
    }

    /// Why, oldest first; at most the first and the newest few.
    pub fn causes(&self) -> &[Cause] {
        &self.causes
    }

    pub(crate) fn mark(&mut self, cause: Cause) {
        let wave = cause.wave;
        let at = self.spans.partition_point(|(_, last)| *last < wave);
        if self.spans.get(at).is_none_or(|(first, _)| *first > wave) {
            self.spans.insert(at, (wave, wave));
            self.join_closest();
        }
        if self.causes.contains(&cause) {
            return;
        }
        if self.causes.len() == CAUSES_MAX {
            self.causes.remove(CAUSES_MAX / 2);
        }
        self.causes.push(cause);
    }

    fn join_closest(&mut self) {
        if self.spans.len() <= SPANS_MAX {
            return;
        }
        let gap = |i: &usize| self.spans[i + 1].0 - self.spans[*i].1;
        if let Some(i) = (0..self.spans.len() - 1).min_by_key(gap) {
            self.spans[i].1 = self.spans[i + 1].1;
            self.spans.remove(i + 1);
        }
    }

    /// Takes every wave up to `cut` and its causes; what is pending after stays.
    pub(crate) fn take(&mut self, cut: Wave) -> Vec<Cause> {
        self.spans.retain_mut(|(first, last)| {
            *first = (*first).max(cut + 1);
            first <= last
        });
        let (taken, left) =
            std::mem::take(&mut self.causes).into_iter().partition(|c| c.wave <= cut);
        self.causes = left;
        taken
    }

    /// Takes everything, whatever its wave.
    pub(crate) fn take_all(&mut self) -> Vec<Cause> {
        self.spans.clear();
        std::mem::take(&mut self.causes)
    }
}
