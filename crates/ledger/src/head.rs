//! The head of a reactor's log: how many receipts there are, and a hash over all of them in order.
//!
//! Chains alone cannot show that their newest receipts were cut off; the newest signed head can.
//! Who can replace the log and the head together by older ones goes unnoticed offline, so an
//! auditor keeps the last head seen.

use prose_ir::Address;
use serde::{Deserialize, Serialize};

use crate::{Moment, ReceiptError, Sig, Signer, Version, canonical};

const GENESIS: &[u8] = b"prose.log.v1";
/// How the member after `sig` begins in a head.
const AFTER_SIG: &[u8] = b",\"version\":";

/// What a head says, except its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// When it was made.
    pub as_of: Moment,
    /// The reactor.
    pub reactor: String,
    /// How many receipts the log has.
    pub receipts: u64,
    /// The rolling hash over their addresses.
    pub root: Address,
}

/// A head with its signature, and the bytes that are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedHead {
    /// What it says.
    pub head: Head,
    /// The signature over the address of its canonical bytes without it.
    pub sig: Sig,
    /// The hash of its canonical bytes without the signature.
    pub address: Address,
    /// Its canonical bytes with the signature.
    pub bytes: Vec<u8>,
}

/// Members in order of their names, as canonical JSON has them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    as_of: Moment,
    kind: Kind,
    reactor: String,
    receipts: u64,
    root: Address,
    version: Version,
}

#[derive(Serialize, Deserialize)]
enum Kind {
    #[serde(rename = "prose.head")]
    Head,
}

impl Head {
    /// The head of a log without receipts.
    pub fn empty(reactor: impl Into<String>, as_of: Moment) -> Self {
        Self { as_of, reactor: reactor.into(), receipts: 0, root: Self::genesis() }
    }

    /// The root of a log without receipts.
    pub fn genesis() -> Address {
        Address::of(GENESIS)
    }

    /// The root after one more receipt: the hash of both texts, one after the other.
    pub fn extend(root: &Address, receipt: &Address) -> Address {
        let mut hasher = blake3::Hasher::new();
        hasher.update(root.as_str().as_bytes());
        hasher.update(receipt.as_str().as_bytes());
        Address::from_hash(hasher.finalize())
    }

    /// Takes one more receipt into account.
    pub fn push(&mut self, receipt: &Address) {
        self.root = Self::extend(&self.root, receipt);
        self.receipts += 1;
    }

    /// Addresses and signs the head.
    ///
    /// # Errors
    /// When the number of receipts is beyond what canonical JSON holds.
    pub fn sign(self, signer: &Signer) -> Result<SignedHead, ReceiptError> {
        self.check()?;
        let wire = Wire::from(self);
        let body = canonical::in_order(&wire)?;
        let address = Address::of(&body);
        let sig = signer.sign(&address);
        let bytes = canonical::with_sig(&body, AFTER_SIG, &sig)?;
        Ok(SignedHead { head: wire.into(), sig, address, bytes })
    }

    fn check(&self) -> Result<(), ReceiptError> {
        if self.receipts > prose_truth::json::MAX_SAFE_INTEGER {
            return Err(ReceiptError::NumberRange("receipts"));
        }
        Ok(())
    }
}

impl SignedHead {
    /// Reads stored bytes back. The signature is read, not judged.
    ///
    /// # Errors
    /// When the bytes are anything but the canonical form of a head.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReceiptError> {
        let (wire, body, sig) =
            canonical::take_apart::<Wire>(bytes, AFTER_SIG, canonical::in_order)?;
        let head = Head::from(wire);
        head.check()?;
        Ok(Self { head, sig, address: Address::of(&body), bytes: bytes.to_vec() })
    }
}

impl From<Head> for Wire {
    fn from(head: Head) -> Self {
        Self {
            as_of: head.as_of,
            kind: Kind::Head,
            reactor: head.reactor,
            receipts: head.receipts,
            root: head.root,
            version: Version,
        }
    }
}

impl From<Wire> for Head {
    fn from(wire: Wire) -> Self {
        Self { as_of: wire.as_of, reactor: wire.reactor, receipts: wire.receipts, root: wire.root }
    }
}
