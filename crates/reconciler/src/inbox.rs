//! The external events of a node that renders them, by their ordinal in the order of arrival.

use prose_ir::Fingerprint;
use serde::{Deserialize, Serialize};

use crate::Wave;

/// Arrivals are told apart by their waves up to this many. Beyond, the oldest two are joined: their
/// events then count as having come with the later one, so they are read later, but never lost.
const MARKS_MAX: usize = 64;

/// What has arrived and what was read, from ordinal zero on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inbox {
    /// Events below this were read by a render that published.
    pub consumed: u64,
    /// The ordinal of the next event.
    pub next: u64,
    /// A fingerprint over all events up to `consumed`, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    read: Option<Fingerprint>,
    /// What arrived since, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<Mark>,
}

/// How far the inbox reached after a wave.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Mark {
    wave: Wave,
    next: u64,
    digest: Fingerprint,
}

impl Inbox {
    /// Whether something waits to be read.
    pub fn is_waiting(&self) -> bool {
        self.consumed < self.next
    }

    /// Takes in one event at `wave` and answers with its ordinal.
    pub(crate) fn push(&mut self, wave: Wave, event: &Fingerprint) -> u64 {
        let ordinal = self.next;
        self.next += 1;
        let so_far = self.marks.last().map(|mark| &mark.digest).or(self.read.as_ref());
        let so_far = so_far.map_or("", Fingerprint::as_str);
        let digest = Fingerprint::of(format!("{so_far}\n{ordinal}\n{event}").as_bytes());
        if self.marks.last().is_some_and(|mark| mark.wave == wave) {
            self.marks.pop();
        } else if self.marks.len() == MARKS_MAX {
            self.marks.remove(0);
        }
        self.marks.push(Mark { wave, next: self.next, digest });
        ordinal
    }

    /// The newest arrival that a render at `wave` may read.
    fn mark(&self, wave: Wave) -> Option<&Mark> {
        self.marks.iter().rev().find(|mark| mark.wave <= wave)
    }

    /// The wave of the newest event that a render at `wave` reads, if it reads any.
    pub(crate) fn newest(&self, wave: Wave) -> Option<Wave> {
        self.mark(wave).map(|mark| mark.wave)
    }

    /// The ordinals that a render at `wave` reads: from the first up to, not including, the second.
    pub(crate) fn readable(&self, wave: Wave) -> (u64, u64) {
        (self.consumed, self.mark(wave).map_or(self.consumed, |mark| mark.next))
    }

    /// A fingerprint over all events that a render at `wave` has read or reads.
    pub(crate) fn digest(&self, wave: Wave) -> Option<Fingerprint> {
        self.mark(wave).map(|mark| &mark.digest).or(self.read.as_ref()).cloned()
    }

    /// Events below `to` were read for good.
    pub(crate) fn consume(&mut self, to: u64) {
        if let Some(mark) = self.marks.iter().rev().find(|mark| mark.next <= to) {
            self.read = Some(mark.digest.clone());
        }
        self.marks.retain(|mark| mark.next > to);
        self.consumed = to;
    }
}
