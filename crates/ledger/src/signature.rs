//! The signature of a receipt or a head.

use serde::{Deserialize, Serialize};

/// A signature over an address, or the admission that there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub enum Sig {
    /// An Ed25519 signature over the text of the address.
    Ed25519 {
        /// `ed25519:<64 hex>`, the public key.
        key: String,
        /// 128 lower-case hexadecimal digits.
        signature: String,
    },
    /// Honestly unsigned.
    None {
        /// Why.
        reason: String,
    },
}

/// Members in order of their names, as canonical JSON has them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    scheme: Scheme,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scheme {
    Ed25519,
    None,
}

impl From<Sig> for Wire {
    fn from(sig: Sig) -> Self {
        match sig {
            Sig::Ed25519 { key, signature } => Self {
                key: Some(key),
                reason: None,
                scheme: Scheme::Ed25519,
                signature: Some(signature),
            },
            Sig::None { reason } => {
                Self { key: None, reason: Some(reason), scheme: Scheme::None, signature: None }
            }
        }
    }
}

impl TryFrom<Wire> for Sig {
    type Error = &'static str;
    fn try_from(wire: Wire) -> Result<Self, Self::Error> {
        match (wire.scheme, wire.key, wire.signature, wire.reason) {
            (Scheme::Ed25519, Some(key), Some(signature), None) => {
                Ok(Self::Ed25519 { key, signature })
            }
            (Scheme::None, None, None, Some(reason)) => Ok(Self::None { reason }),
            _ => Err("the members do not fit the scheme"),
        }
    }
}
