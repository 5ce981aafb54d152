//! Content addresses and fingerprints: `blake3:` and 64 lower-case hexadecimal digits.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

const PREFIX: &str = "blake3:";

/// A text that is not `blake3:` followed by 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not of the form blake3:<64 lower-case hexadecimal digits>")]
pub struct MalformedHash(String);

macro_rules! hash_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Hashes `bytes`.
            pub fn of(bytes: &[u8]) -> Self {
                Self::from_hash(blake3::hash(bytes))
            }

            /// Writes a finished BLAKE3 hash in the textual form.
            pub fn from_hash(hash: blake3::Hash) -> Self {
                let digits = hash.to_hex();
                let text = PREFIX.bytes().chain(digits.bytes());
                let mut bytes = [0; PREFIX.len() + 64];
                bytes.iter_mut().zip(text).for_each(|(to, from)| *to = from);
                Self(String::from_utf8_lossy(&bytes).into())
            }

            /// The textual form, `blake3:<64 hex>`.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The first digits, for people; not unique.
            pub fn short(&self) -> &str {
                &self.0[PREFIX.len()..PREFIX.len() + 12]
            }
        }

        impl FromStr for $name {
            type Err = MalformedHash;
            fn from_str(text: &str) -> Result<Self, MalformedHash> {
                let digits = text.strip_prefix(PREFIX).unwrap_or_default();
                let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
                if digits.len() == 64 && digits.bytes().all(is_digit) {
                    Ok(Self(text.into()))
                } else {
                    Err(MalformedHash(text.chars().take(80).collect()))
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = MalformedHash;
            fn try_from(text: String) -> Result<Self, MalformedHash> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(hash: $name) -> String {
                hash.0.as_ref().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.short())
            }
        }
    };
}

hash_type! {
    /// The address of stored bytes: a receipt, a tree or a blob.
    Address
}

hash_type! {
    /// A token that moves exactly when the material content it stands for moves. Only ever compared.
    Fingerprint
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips_and_malformed_text_is_refused() {
        let address = Address::of(b"truth");
        assert_eq!(address.as_str().parse::<Address>().unwrap(), address);
        for bad in ["", "blake3:", "sha256:00", &address.as_str().to_uppercase(), "blake3:zz"] {
            assert!(bad.parse::<Address>().is_err(), "{bad} must be refused");
        }
    }
}
