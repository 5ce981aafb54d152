//! Times and time spans for people.

use std::time::Duration;

/// Milliseconds since 1970.
pub(crate) fn now_millis() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// A time span in its largest fitting unit.
pub(crate) fn span(millis: i64) -> String {
    let duration = Duration::from_millis(millis.unsigned_abs());
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{} ms", duration.as_millis()),
        1..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// How far from now, in either direction.
pub(crate) fn ago(millis: i64, now: i64) -> String {
    if millis > now {
        format!("in {}", span(millis - now))
    } else {
        format!("{} ago", span(now - millis))
    }
}
