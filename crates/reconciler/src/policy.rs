//! What operators decide about leases, retries and patience.

use crate::Millis;

/// Time limits of the run phase, all in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Policy {
    /// How long a lease lasts without a heartbeat.
    pub lease_ms: Millis,
    /// Attempts at one wake before an infrastructure failure becomes final; at least one.
    pub attempts_max: u32,
    /// The wait before the second attempt; doubles for each one after.
    pub backoff_ms: Millis,
    /// The longest wait between attempts.
    pub backoff_max_ms: Millis,
    /// How long a node waits for a cut that gaps deny it, before it renders on a mixture.
    pub patience_ms: Millis,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            lease_ms: 30_000,
            attempts_max: 5,
            backoff_ms: 1_000,
            backoff_max_ms: 300_000,
            patience_ms: 600_000,
        }
    }
}

impl Policy {
    /// The wait after attempt number `attempt` (counted from one) has failed.
    ///
    /// Exponential, with a jitter of up to a quarter that follows from `salt`, so that many nodes
    /// behind one broken harness do not come back at the same instant.
    pub(crate) fn backoff(&self, attempt: u32, salt: u64) -> Millis {
        let doublings = attempt.saturating_sub(1).min(32);
        let full = self.backoff_ms.saturating_mul(1 << doublings).min(self.backoff_max_ms);
        // Splitmix64's finalizer: consecutive fences must not give consecutive waits.
        let mut z = salt.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let quarter = full / 4;
        full - if quarter > 0 { (z % quarter as u64) as Millis } else { 0 }
    }
}
