//! Receipts as stored, and the signed head of all chains.

use prose_ir::Address;
use prose_store::{ReceiptQuery, ReceiptRow};

use crate::{Engine, Error};

/// The shortest prefix of an address that may stand for it.
const PREFIX_MIN: usize = 4;

impl Engine {
    /// A page of a ledger.
    ///
    /// # Errors
    /// No such reactor, or the store.
    pub async fn receipts(
        &self,
        reactor: &str,
        query: ReceiptQuery,
    ) -> Result<Vec<ReceiptRow>, Error> {
        if self.store.reactor(reactor).await?.is_none() {
            return Err(Error::NoReactor(reactor.to_owned()));
        }
        Ok(self.store.receipts(reactor, query).await?)
    }

    /// One receipt by its address or a unique prefix of it.
    ///
    /// # Errors
    /// No receipt, or several, that begin so; no such reactor; the store.
    pub async fn receipt(&self, reactor: &str, address: &str) -> Result<ReceiptRow, Error> {
        if self.store.reactor(reactor).await?.is_none() {
            return Err(Error::NoReactor(reactor.to_owned()));
        }
        if let Ok(address) = address.parse::<Address>() {
            let found = self.store.receipt(reactor, &address).await?;
            return found.ok_or_else(|| Error::NoReceipt(format!("there is no receipt {address}")));
        }
        let digits = address.strip_prefix("blake3:").unwrap_or(address);
        if digits.len() < PREFIX_MIN {
            let text = format!("`{address}` is too short; give at least {PREFIX_MIN} digits");
            return Err(Error::NoReceipt(text));
        }
        let mut found = self.store.receipts_by_prefix(reactor, address, 2).await?;
        match (found.pop(), found.pop()) {
            (Some(row), None) => Ok(row),
            (Some(_), Some(_)) => {
                Err(Error::NoReceipt(format!("several receipts begin with `{address}`")))
            }
            (None, _) => Err(Error::NoReceipt(format!("no receipt begins with `{address}`"))),
        }
    }

    /// The canonical bytes of the newest signed head; empty before the first receipt.
    ///
    /// # Errors
    /// No such reactor, or the store.
    pub async fn head(&self, reactor: &str) -> Result<Vec<u8>, Error> {
        let row = self.store.reactor(reactor).await?;
        Ok(row.ok_or_else(|| Error::NoReactor(reactor.to_owned()))?.head)
    }
}
