//! Keys: the one that signs, and those that are believed.

use std::{collections::BTreeMap, fmt};

use ed25519_dalek::{
    Signature, Signer as _, SigningKey, VerifyingKey,
    pkcs8::{DecodePrivateKey, EncodePrivateKey, KeypairBytes, spki::der::pem::LineEnding},
};
use prose_ir::Address;

use crate::{Sig, hex};

const KEY_PREFIX: &str = "ed25519:";

/// Whoever seals receipts.
#[derive(Clone)]
pub struct Signer(Inner);

#[derive(Clone)]
enum Inner {
    Ed25519 { key: Box<SigningKey>, id: String },
    Unsigned { reason: String },
}

/// Why a key is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not a PEM of an Ed25519 private key in PKCS#8.
    #[error("not an Ed25519 private key in PKCS#8 PEM: {0}")]
    Pem(String),
    /// Not `ed25519:<64 hex>` with a point on the curve.
    #[error("not a public key of the form ed25519:<64 lower-case hexadecimal digits>")]
    Malformed,
    /// A point of small order: it verifies signatures that nobody made.
    #[error("the public key is weak")]
    Weak,
}

impl KeyError {
    /// Stable code for people and programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Pem(_) => "key_pem",
            Self::Malformed => "key_malformed",
            Self::Weak => "key_weak",
        }
    }
}

impl Signer {
    /// Signs with the key made from `secret`, 32 bytes of good randomness.
    pub fn ed25519(secret: &[u8; 32]) -> Self {
        Self::with_key(SigningKey::from_bytes(secret))
    }

    /// Leaves receipts honestly unsigned.
    pub fn unsigned(reason: impl Into<String>) -> Self {
        Self(Inner::Unsigned { reason: reason.into() })
    }

    /// Reads a private key, as [`Signer::to_pem`] or OpenSSL writes it.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        SigningKey::from_pkcs8_pem(pem)
            .map(Self::with_key)
            .map_err(|error| KeyError::Pem(error.to_string()))
    }

    /// The private key as PKCS#8 PEM, in the plain form that every OpenSSL reads; `None` for the
    /// unsigned. Whoever keeps it keeps it secret.
    pub fn to_pem(&self) -> Option<String> {
        let Inner::Ed25519 { key, .. } = &self.0 else {
            return None;
        };
        let pair = KeypairBytes { secret_key: key.to_bytes(), public_key: None };
        let pem = pair.to_pkcs8_pem(LineEnding::LF).ok()?;
        Some(pem.as_str().to_owned())
    }

    /// The public key as `ed25519:<hex>`; `None` for the unsigned.
    pub fn key_id(&self) -> Option<&str> {
        match &self.0 {
            Inner::Ed25519 { id, .. } => Some(id),
            Inner::Unsigned { .. } => None,
        }
    }

    /// Signs `address`.
    pub fn sign(&self, address: &Address) -> Sig {
        match &self.0 {
            Inner::Ed25519 { key, id } => Sig::Ed25519 {
                key: id.clone(),
                signature: hex::encode(&key.sign(address.as_str().as_bytes()).to_bytes()),
            },
            Inner::Unsigned { reason } => Sig::None { reason: reason.clone() },
        }
    }

    fn with_key(key: SigningKey) -> Self {
        let id = format!("{KEY_PREFIX}{}", hex::encode(key.verifying_key().as_bytes()));
        Self(Inner::Ed25519 { key: Box::new(key), id })
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Ed25519 { id, .. } => write!(f, "Signer({id})"),
            Inner::Unsigned { reason } => write!(f, "Signer(unsigned: {reason})"),
        }
    }
}

/// The public keys whose signatures are believed.
#[derive(Debug, Clone, Default)]
pub struct KeyRing(BTreeMap<String, VerifyingKey>);

/// What a key ring says about a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    Unsigned,
    UnknownKey,
    Bad,
}

impl KeyRing {
    /// Believes nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// Believes the keys with these ids.
    ///
    /// # Errors
    /// The first id that [`KeyRing::add`] refuses.
    pub fn of<'a>(ids: impl IntoIterator<Item = &'a str>) -> Result<Self, KeyError> {
        let mut ring = Self::new();
        ids.into_iter().try_for_each(|id| ring.add(id))?;
        Ok(ring)
    }

    /// Believes one more key, given as `ed25519:<hex>`.
    ///
    /// # Errors
    /// When it is malformed or weak.
    pub fn add(&mut self, id: &str) -> Result<(), KeyError> {
        let digits = id.strip_prefix(KEY_PREFIX).ok_or(KeyError::Malformed)?;
        let bytes = hex::decode(digits).ok_or(KeyError::Malformed)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| KeyError::Malformed)?;
        if key.is_weak() {
            return Err(KeyError::Weak);
        }
        self.0.insert(id.to_owned(), key);
        Ok(())
    }

    /// The ids of the keys, sorted.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(crate) fn judge(&self, address: &Address, sig: &Sig) -> Verdict {
        let (key, signature) = match sig {
            Sig::None { .. } => return Verdict::Unsigned,
            Sig::Ed25519 { key, signature } => (key, signature),
        };
        let Some(key) = self.0.get(key) else {
            return Verdict::UnknownKey;
        };
        let Some(signature) = hex::decode(signature) else {
            return Verdict::Bad;
        };
        let signature = Signature::from_bytes(&signature);
        match key.verify_strict(address.as_str().as_bytes(), &signature) {
            Ok(()) => Verdict::Good,
            Err(_) => Verdict::Bad,
        }
    }
}
