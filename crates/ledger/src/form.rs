//! The literals by which a reader knows a receipt.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The literal `kind` of a receipt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kind;

impl Kind {
    const TEXT: &str = "prose.receipt";
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Self::TEXT)
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            Self::TEXT => Ok(Self),
            _ => Err(de::Error::custom("the kind is not `prose.receipt`")),
        }
    }
}

/// The literal `version` of receipts and heads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Version;

impl Version {
    const NUMBER: u32 = 1;
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(Self::NUMBER)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            Self::NUMBER => Ok(Self),
            other => Err(de::Error::custom(format!("version {other} is not known"))),
        }
    }
}
