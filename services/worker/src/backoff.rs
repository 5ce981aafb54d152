//! Waits between attempts at a call.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

const FIRST: Duration = Duration::from_millis(100);
const LAST: Duration = Duration::from_secs(10);

/// Doubling waits, each shortened by up to a quarter by chance, so that many workers do not come
/// back at the same instant.
pub(crate) struct Backoff {
    next: Duration,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self { next: FIRST }
    }

    pub(crate) fn reset(&mut self) {
        self.next = FIRST;
    }

    pub(crate) async fn wait(&mut self) {
        let chance = RandomState::new().hash_one(0u8);
        let shorter = self.next.mul_f64((chance % 1_000) as f64 / 4_000.0);
        tokio::time::sleep(self.next - shorter).await;
        self.next = (self.next * 2).min(LAST);
    }
}
