//! Measuring by ratios: what a thing costs is said in units of something else timed in the same
//! run, so that a figure means the same on every machine.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use ed25519_dalek::{Signer, SigningKey};

/// How often each thing is timed; the median counts.
const ROUNDS: usize = 15;

/// The median time of one call of `work`, called `batch` times a round.
pub fn time<T>(batch: u32, mut work: impl FnMut() -> T) -> Duration {
    let mut rounds: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..batch {
                black_box(work());
            }
            start.elapsed() / batch
        })
        .collect();
    rounds.sort();
    rounds[ROUNDS / 2]
}

/// The least time of each of `works`, timed in turn: what else the machine does then disturbs all
/// alike, and the ratio of two of them can be trusted.
pub fn least<const N: usize>(mut works: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut least = [Duration::MAX; N];
    for _ in 0..ROUNDS * 2 {
        for (work, least) in works.iter_mut().zip(&mut least) {
            let start = Instant::now();
            work();
            *least = start.elapsed().min(*least);
        }
    }
    least
}

/// The time of one Ed25519 signature over an address-sized message.
pub fn signature() -> Duration {
    let key = SigningKey::from_bytes(&[7; 32]);
    time(500, || key.sign(black_box(&[1; 71])))
}

/// How many times `b` goes into `a`.
pub fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// Prints a figure, its ratio and what is asked of it; answers whether it is met.
pub fn report(
    what: &str,
    measured: Duration,
    ratio: f64,
    unit: &str,
    bound: &str,
    met: bool,
) -> bool {
    let verdict = if met { "met" } else { "MISSED" };
    println!("{what:<58} {measured:>12.2?}  {ratio:>9.3} {unit:<16} asked: {bound:<14} {verdict}");
    met
}

/// Prints a ratio that has no time of its own.
pub fn report_ratio(what: &str, ratio: f64, unit: &str, bound: &str, met: bool) -> bool {
    let verdict = if met { "met" } else { "MISSED" };
    println!("{what:<58} {:>12}  {ratio:>9.3} {unit:<16} asked: {bound:<14} {verdict}", "");
    met
}
