//! Pure work on many things, spread over the cores.

use rayon::prelude::*;

/// Below this many things, handing them over costs more than it saves.
const THINGS_MIN: usize = 16;
/// The fewest things that are worth a thread of their own.
const EACH_MIN: usize = 8;

/// Maps `things` in order, on several cores when there are many. Blocks for as long as that takes.
///
/// The threads are those of a pool that lives as long as the process: a new thread would have ended
/// before it was moved to an idle core.
pub(crate) fn map<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if things.len() < THINGS_MIN {
        return things.iter().map(work).collect();
    }
    things.par_iter().with_min_len(EACH_MIN).map(work).collect()
}
