//! A receipt with its address and signature, and the bytes that are stored.

use prose_ir::Address;

use crate::{Receipt, ReceiptError, Sig, Signer, canonical};

/// How the member after `sig` begins in a receipt.
const AFTER_SIG: &[u8] = b",\"status\":\"";

/// A finished receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct Sealed {
    /// What it says.
    pub receipt: Receipt,
    /// Its signature.
    pub sig: Sig,
    /// The hash of its canonical bytes without the signature.
    pub address: Address,
    /// Its canonical bytes with the signature: stored as they are, never rebuilt.
    pub bytes: Vec<u8>,
}

/// Checks, addresses and signs a receipt.
///
/// # Errors
/// When the receipt breaks a rule that must hold of every receipt ([`Receipt::check`]).
pub fn seal(receipt: Receipt, signer: &Signer) -> Result<Sealed, ReceiptError> {
    receipt.check()?;
    let body = canonical::receipt(&receipt)?;
    let address = Address::of(&body);
    let sig = signer.sign(&address);
    let bytes = canonical::with_sig(&body, AFTER_SIG, &sig)?;
    Ok(Sealed { receipt, sig, address, bytes })
}

impl Sealed {
    /// Reads stored bytes back and computes their address. The signature is read, not judged.
    ///
    /// # Errors
    /// When the bytes are anything but the canonical form of a receipt that keeps the rules.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReceiptError> {
        let (receipt, body, sig) =
            canonical::take_apart::<Receipt>(bytes, AFTER_SIG, canonical::receipt)?;
        receipt.check()?;
        Ok(Self { receipt, sig, address: Address::of(&body), bytes: bytes.to_vec() })
    }
}
