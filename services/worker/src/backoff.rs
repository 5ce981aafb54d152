//! How long to rest after failures.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

const FIRST: Duration = Duration::from_millis(100);
const MAX: Duration = Duration::from_secs(10);
/// `FIRST` doubled this often is above `MAX`.
const DOUBLINGS_MAX: u32 = 7;

/// Counts failures in a row.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: AtomicU32,
}

impl Backoff {
    /// The rest after one more failure: it doubles up to a cap, and up to half of it is taken off
    /// by chance, so that workers that failed together do not come back together.
    pub(crate) fn failed(&self) -> Duration {
        // Without chance there is no jitter, which is no reason to fail.
        let chance = getrandom::u32().unwrap_or(0);
        rest(self.failures.fetch_add(1, Ordering::Relaxed), chance)
    }

    pub(crate) fn succeeded(&self) {
        self.failures.store(0, Ordering::Relaxed);
    }
}

fn rest(failures: u32, chance: u32) -> Duration {
    let full = (FIRST * 2_u32.pow(failures.min(DOUBLINGS_MAX))).min(MAX);
    full - full.mul_f64(f64::from(chance) / f64::from(u32::MAX) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_double_up_to_the_cap_and_vary_by_half() {
        assert_eq!(rest(0, 0), FIRST);
        assert_eq!(rest(0, u32::MAX), FIRST / 2);
        assert_eq!(rest(3, 0), FIRST * 8);
        for failures in [DOUBLINGS_MAX, 40, u32::MAX] {
            assert_eq!(rest(failures, 0), MAX);
        }
    }

    #[test]
    fn success_starts_over() {
        let backoff = Backoff::default();
        for _ in 0..20 {
            backoff.failed();
        }
        backoff.succeeded();
        assert!(backoff.failed() <= FIRST);
    }
}
