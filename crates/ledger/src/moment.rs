//! Points in time as receipts write them.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A millisecond in UTC, written `2026-11-30T12:00:00.000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(Timestamp);

impl Moment {
    /// From milliseconds since 1970. What lies outside the years -9999 to 9999 becomes the nearest
    /// moment inside.
    pub fn from_millis(millis: i64) -> Self {
        let clamped =
            millis.clamp(Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond());
        Self(Timestamp::from_millisecond(clamped).unwrap_or(Timestamp::UNIX_EPOCH))
    }

    /// Milliseconds since 1970.
    pub fn as_millis(self) -> i64 {
        self.0.as_millisecond()
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

/// A text that is no moment in the form receipts use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not of the form 2026-11-30T12:00:00.000Z")]
pub struct MalformedMoment;

impl FromStr for Moment {
    type Err = MalformedMoment;
    fn from_str(text: &str) -> Result<Self, MalformedMoment> {
        let timestamp: Timestamp = text.parse().map_err(|_| MalformedMoment)?;
        let moment = Self::from_millis(timestamp.as_millisecond());
        // One moment has one spelling, so that equal receipts have equal bytes.
        if moment.to_string() == text { Ok(moment) } else { Err(MalformedMoment) }
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_one_spelling() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_796_040_000_007, "2026-11-30T12:00:00.007Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            let moment = Moment::from_millis(millis);
            assert_eq!(moment.to_string(), text);
            assert_eq!(text.parse::<Moment>().unwrap(), moment);
            assert_eq!(moment.as_millis(), millis);
        }
        for bad in [
            "1970-01-01T00:00:00Z",
            "1970-01-01T00:00:00.0000Z",
            "1970-01-01T01:00:00.000+01:00",
            "1970-01-01 00:00:00.000Z",
            "",
        ] {
            assert!(bad.parse::<Moment>().is_err(), "{bad}");
        }
        for extreme in [i64::MIN, i64::MAX] {
            let moment = Moment::from_millis(extreme);
            assert_eq!(moment.to_string().parse::<Moment>().unwrap(), moment);
        }
    }
}
