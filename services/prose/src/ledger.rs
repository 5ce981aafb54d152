//! Reading a ledger and contents over the API.

use std::collections::BTreeMap;

use prose_api::{Prose, v1};
use prose_ir::Address;
use prose_ledger::Sealed;
use prose_truth::{Files, Tree};
use serde_json::{Value, json};

use crate::{
    connect::Session,
    error::{Error, Exit},
};

/// Receipts to ask for at once.
const PAGE: u32 = 1_000;

/// Addresses to ask for at once.
const CONTENTS: usize = 500;

impl Session {
    /// Hands over the receipts after position `after`, oldest first, up to position `until`.
    pub async fn each_receipt(
        &mut self,
        node: &str,
        mut after: u64,
        until: Option<u64>,
        mut take: impl FnMut(v1::Receipt) -> Result<(), Error>,
    ) -> Result<(), Error> {
        loop {
            let page = page(&mut self.client, &self.reactor, node, after).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.position;
            for receipt in page {
                if until.is_some_and(|until| receipt.position > until) {
                    return Ok(());
                }
                take(receipt)?;
            }
        }
    }

    /// The newest receipts, newest first.
    pub async fn newest_receipts(
        &mut self,
        node: &str,
        before: u64,
        limit: u32,
    ) -> Result<Vec<v1::Receipt>, Error> {
        let mut receipts: Vec<v1::Receipt> = Vec::new();
        loop {
            let left = limit.saturating_sub(u32::try_from(receipts.len()).unwrap_or(u32::MAX));
            let before = receipts.last().map_or(before, |receipt| receipt.position);
            if left == 0 || before == 1 {
                return Ok(receipts);
            }
            let request = v1::ListReceiptsRequest {
                reactor: self.reactor.clone(),
                node: node.to_owned(),
                newest_first: true,
                before,
                limit: left.min(PAGE),
                ..Default::default()
            };
            let page = self.client.list_receipts(request).await?.into_inner().receipts;
            if page.is_empty() {
                return Ok(receipts);
            }
            receipts.extend(page);
        }
    }

    /// Why a decision was a failure, as its receipt says.
    pub async fn failure(&mut self, address: &str) -> Result<String, Error> {
        let (reactor, address) = (self.reactor.clone(), address.to_owned());
        let request = v1::GetReceiptRequest { reactor, address };
        let row = self.client.get_receipt(request).await?.into_inner().receipt;
        let failure = parse(&row.unwrap_or_default())?.receipt.failure;
        Ok(failure.map(|failure| failure.reason).unwrap_or_default())
    }

    /// What is stored of these contents, by address.
    pub async fn contents(
        &mut self,
        addresses: &[Address],
    ) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let mut found = BTreeMap::new();
        for part in addresses.chunks(CONTENTS) {
            let mut missing: Vec<String> = part.iter().map(|a| a.as_str().to_owned()).collect();
            while !missing.is_empty() {
                let request = v1::GetContentsRequest { addresses: missing.clone() };
                let answer = self.client.get_contents(request).await?.into_inner().contents;
                // An answer may be cut at the size of a message, but one with nothing is all.
                if answer.is_empty() {
                    break;
                }
                missing.retain(|address| !answer.contains_key(address));
                found.extend(answer.into_iter().map(|(address, bytes)| (address, bytes.into())));
            }
        }
        Ok(found)
    }

    /// The files of a published tree.
    pub async fn files(&mut self, tree: &str) -> Result<Files, Error> {
        let damaged = |problem: String| Error {
            code: "contents_damaged".into(),
            message: format!("the published truth {tree} {problem}"),
            help: Some("run `prose receipts verify` to learn what else is".into()),
            exit: Exit::Failed,
        };
        let address: Address = tree.parse().map_err(|_| damaged("has no address".into()))?;
        let mut found = self.contents(std::slice::from_ref(&address)).await?;
        let bytes = found.remove(tree).ok_or_else(|| damaged("is missing".into()))?;
        let tree = Tree::parse(&bytes).map_err(|error| damaged(format!("is damaged: {error}")))?;
        let blobs: Vec<Address> = tree.files().values().map(|entry| entry.blob.clone()).collect();
        let found = self.contents(&blobs).await?;
        tree.files()
            .iter()
            .map(|(path, entry)| {
                let content = found.get(entry.blob.as_str());
                let content = content.ok_or_else(|| damaged(format!("lacks `{path}`")))?;
                Ok((path.clone(), content.as_slice().into()))
            })
            .collect()
    }
}

/// The receipts after a position, oldest first, as many as are asked for at once.
pub(crate) async fn page(
    client: &mut Prose,
    reactor: &str,
    node: &str,
    after: u64,
) -> Result<Vec<v1::Receipt>, Error> {
    let request = v1::ListReceiptsRequest {
        reactor: reactor.to_owned(),
        node: node.to_owned(),
        after,
        limit: PAGE,
        ..Default::default()
    };
    Ok(client.list_receipts(request).await?.into_inner().receipts)
}

/// A receipt read back; a damaged one is an error that says so.
pub(crate) fn parse(receipt: &v1::Receipt) -> Result<Sealed, Error> {
    let place = format!("receipt {} of the log", receipt.position);
    Sealed::parse(&receipt.body).map_err(|error| Error::from(error).at(&place))
}

/// A receipt for programs: its place, its address, and what it says.
pub(crate) fn document(receipt: &v1::Receipt) -> Value {
    let body: Value = serde_json::from_slice(&receipt.body).unwrap_or_default();
    json!({"position": receipt.position, "address": receipt.address, "receipt": body})
}
