//! Waiting for a condition, never for a time.

use std::{
    fmt::Debug,
    time::{Duration, Instant},
};

const PAUSE: Duration = Duration::from_millis(10);

/// Asks `condition` again and again until it gives a value. When it still does not after `limit`,
/// the test fails and shows what it said last, so let it say how things stand.
///
/// ```
/// # #[tokio::main] async fn main() {
/// use std::time::Duration;
/// let mut renders = 0;
/// let seen = prose_testkit::wait_for("two renders", Duration::from_secs(5), async || {
///     renders += 1;
///     if renders >= 2 { Ok(renders) } else { Err(format!("{renders} renders so far")) }
/// });
/// assert_eq!(seen.await, 2);
/// # }
/// ```
///
/// # Panics
/// When the limit has passed.
pub async fn wait_for<T, S: Debug>(
    what: &str,
    limit: Duration,
    mut condition: impl AsyncFnMut() -> Result<T, S>,
) -> T {
    let start = Instant::now();
    let mut status = None;
    loop {
        // A condition that hangs is as bad as one that never comes true.
        let left = limit.saturating_sub(start.elapsed());
        match tokio::time::timeout(left, condition()).await {
            Ok(Ok(value)) => return value,
            // A timeout of nothing still asks once, so the limit has to be looked at as well.
            Ok(Err(now)) if start.elapsed() < limit => status = Some(now),
            Ok(Err(now)) => panic!("waited {limit:?} for {what}; last: {:?}", Some(now)),
            Err(_) => panic!("waited {limit:?} for {what}; last: {status:?}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    #[should_panic(expected = "for what never comes; last: Some(\"not yet\")")]
    async fn the_last_status_is_shown() {
        let limit = Duration::from_millis(50);
        wait_for("what never comes", limit, async || Err::<(), _>("not yet")).await;
    }
}
