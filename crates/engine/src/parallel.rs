//! Pure work on many things, spread over the cores.

/// Below this many things a thread costs more than it saves.
const EACH_MIN: usize = 64;

/// Maps `things` in order, on several cores when there are many. Blocks for as long as that takes.
pub(crate) fn map<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (things.len() / EACH_MIN).clamp(1, cores);
    let each = things.len().div_ceil(threads).max(1);
    let run = |part: &[T]| part.iter().map(&work).collect::<Vec<R>>();
    let mut parts = things.chunks(each);
    let Some(own) = parts.next() else { return Vec::new() };
    std::thread::scope(|scope| {
        let others: Vec<_> = parts.map(|part| scope.spawn(move || run(part))).collect();
        let mut done = run(own);
        for other in others {
            // A panic in a part is a panic of the caller.
            let part = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done.extend(part);
        }
        done
    })
}
