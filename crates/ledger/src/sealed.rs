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

/// A receipt with its address, before it is signed.
///
/// The next receipt of the chain needs only the address, so a batch is chained first and signed
/// afterwards, several at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Addressed {
    receipt: Receipt,
    address: Address,
    body: Vec<u8>,
}

impl Addressed {
    /// Checks and addresses a receipt.
    ///
    /// # Errors
    /// When the receipt breaks a rule that must hold of every receipt ([`Receipt::check`]).
    pub fn new(receipt: Receipt) -> Result<Self, ReceiptError> {
        receipt.check()?;
        let body = canonical::receipt(&receipt)?;
        Ok(Self { address: Address::of(&body), receipt, body })
    }

    /// The hash of its canonical bytes without a signature.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// What it says.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Its signature, and the canonical bytes that hold it.
    ///
    /// # Errors
    /// When the signature cannot be written, which only a signer of another kind could cause.
    pub fn signed(&self, signer: &Signer) -> Result<(Sig, Vec<u8>), ReceiptError> {
        let sig = signer.sign(&self.address);
        let bytes = canonical::with_sig(&self.body, AFTER_SIG, &sig)?;
        Ok((sig, bytes))
    }
}

/// Checks, addresses and signs a receipt.
///
/// # Errors
/// When the receipt breaks a rule that must hold of every receipt ([`Receipt::check`]).
pub fn seal(receipt: Receipt, signer: &Signer) -> Result<Sealed, ReceiptError> {
    let addressed = Addressed::new(receipt)?;
    let (sig, bytes) = addressed.signed(signer)?;
    let Addressed { receipt, address, .. } = addressed;
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
