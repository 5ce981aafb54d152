//! Why a node was last decided the way it was: the surprise, by name.

use prose_ledger::{InputFingerprint, Receipt, Sealed, Status};
use prose_store::{Page, ReceiptQuery, ReceiptRow};

use crate::{Engine, Error, NodeReport, sealer::EVENT_NEED};

/// Receipts looked back at for the decision to compare with.
const LOOK_BACK: usize = 50;

/// A decision and what it hung on.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// What the node is doing now.
    pub node: NodeReport,
    /// Its newest receipt.
    pub last: Option<ReceiptRow>,
    /// What differs from the newest decision before it that was not a failure.
    pub moves: Vec<Move>,
    /// The receipts that woke it.
    pub woken_by: Vec<ReceiptRow>,
}

/// One thing a decision depends on that moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// What kind of thing.
    pub what: MovedWhat,
    /// Its token before; none where it was not there.
    pub before: Option<String>,
    /// Its token now.
    pub after: Option<String>,
    /// The receipt that published the newer token.
    pub receipt: Option<String>,
}

/// What a decision depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MovedWhat {
    /// The contract.
    Contract,
    /// An input.
    Input {
        /// The need.
        need: String,
        /// The producer.
        producer: String,
        /// The facet.
        facet: String,
    },
    /// The events that were read.
    Event,
    /// The freshness epoch.
    Freshness,
}

impl Engine {
    /// Explains the newest decision about a node, and what it waits for now.
    ///
    /// # Errors
    /// No such reactor or node, a ledger that cannot be read, or the store.
    pub async fn explain(&self, reactor: &str, node: &str) -> Result<Explanation, Error> {
        let report = self.node(reactor, node).await?;
        let query = ReceiptQuery {
            node: Some(node.to_owned()),
            page: Page::NewestFirst { before: None },
            limit: LOOK_BACK,
        };
        let mut rows = self.store.receipts(reactor, query).await?.into_iter();
        let Some(last) = rows.next() else {
            return Ok(Explanation { node: report, last: None, moves: vec![], woken_by: vec![] });
        };
        let newest = read(reactor, &last)?;
        let mut before = None;
        for row in rows {
            let receipt = read(reactor, &row)?;
            if receipt.status != Status::Failed {
                before = Some(receipt);
                break;
            }
        }
        let mut woken_by = Vec::new();
        for address in &newest.wake.refs {
            woken_by.extend(self.store.receipt(reactor, address).await?);
        }
        let moves = moves(before.as_ref(), &newest);
        Ok(Explanation { node: report, last: Some(last), moves, woken_by })
    }
}

fn read(reactor: &str, row: &ReceiptRow) -> Result<Receipt, Error> {
    let sealed = Sealed::parse(&row.bytes).map_err(|error| Error::Damaged {
        reactor: reactor.to_owned(),
        what: format!("receipt {}: {error}", row.address),
    })?;
    Ok(sealed.receipt)
}

fn moves(before: Option<&Receipt>, after: &Receipt) -> Vec<Move> {
    let mut moves = Vec::new();
    let contract = before.map(|b| b.contract_fingerprint.to_string());
    let new_contract = after.contract_fingerprint.to_string();
    if contract.as_ref() != Some(&new_contract) {
        moves.push(Move {
            what: MovedWhat::Contract,
            before: contract,
            after: Some(new_contract),
            receipt: None,
        });
    }
    let old_inputs = before.map_or(&[][..], |b| &b.input_fingerprints);
    for input in &after.input_fingerprints {
        let old = old_inputs.iter().find(|o| same_source(o, input));
        let token = |i: &InputFingerprint| i.fingerprint.as_ref().map(ToString::to_string);
        let (old_token, new_token) = (old.and_then(token), token(input));
        if old_token != new_token {
            moves.push(Move {
                what: what(input),
                before: old_token,
                after: new_token,
                receipt: input.receipt.as_ref().map(ToString::to_string),
            });
        }
    }
    if let Some(before) = before
        && before.freshness_epoch != after.freshness_epoch
    {
        moves.push(Move {
            what: MovedWhat::Freshness,
            before: Some(before.freshness_epoch.to_string()),
            after: Some(after.freshness_epoch.to_string()),
            receipt: None,
        });
    }
    moves
}

fn same_source(a: &InputFingerprint, b: &InputFingerprint) -> bool {
    (&a.need, &a.producer, &a.facet) == (&b.need, &b.producer, &b.facet)
}

fn what(input: &InputFingerprint) -> MovedWhat {
    if input.need == EVENT_NEED {
        return MovedWhat::Event;
    }
    MovedWhat::Input {
        need: input.need.clone(),
        producer: input.producer.clone(),
        facet: input.facet.clone(),
    }
}
