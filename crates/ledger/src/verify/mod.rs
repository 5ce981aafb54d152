//! Verification of a log, offline and in one pass.
//!
//! Memory grows with the number of nodes and of distinct contents, not of receipts.

mod contents;
mod finding;

use std::collections::BTreeMap;

use prose_ir::Address;

pub use finding::{Finding, Problem};

use crate::{
    Head, KeyRing, Receipt, ReceiptError, Sealed, Sig, SignedHead, signer::Verdict,
    verify::contents::Contents,
};

/// Finds the bytes an address stands for; `None` where they are missing.
pub type Lookup<'a> = Box<dyn FnMut(&Address) -> Option<Vec<u8>> + 'a>;

/// Checks receipts as they are handed over in the order of the log, then the head.
pub struct Verifier<'a> {
    ring: &'a KeyRing,
    signatures_required: bool,
    contents: Option<Contents<'a>>,
    reactor: Option<String>,
    chains: BTreeMap<String, Link>,
    root: Address,
    position: u64,
    unreadable: u64,
    unsigned: u64,
    first_unsigned: u64,
}

/// The newest receipt of a node so far.
struct Link {
    seq: u64,
    address: Address,
}

/// The result of a whole verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How many receipts were read.
    pub receipts: u64,
    /// Everything found, in order of position; notes included.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether nothing is wrong; notes do not count.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(Finding::is_note)
    }
}

/// Verifies a whole log at once.
pub fn verify<B: AsRef<[u8]>>(
    mut verifier: Verifier<'_>,
    receipts: impl IntoIterator<Item = B>,
    head: Option<&[u8]>,
) -> Report {
    let mut findings = Vec::new();
    for bytes in receipts {
        findings.extend(verifier.push(bytes.as_ref(), None));
    }
    let receipts = verifier.position;
    findings.extend(verifier.finish(head));
    Report { receipts, findings }
}

impl<'a> Verifier<'a> {
    /// A verifier that believes `ring` and takes honestly unsigned receipts as such.
    pub fn new(ring: &'a KeyRing) -> Self {
        Self {
            ring,
            signatures_required: false,
            contents: None,
            reactor: None,
            chains: BTreeMap::new(),
            root: Head::genesis(),
            position: 0,
            unreadable: 0,
            unsigned: 0,
            first_unsigned: 0,
        }
    }

    /// Finds fault with unsigned receipts and heads.
    #[must_use]
    pub fn require_signatures(mut self) -> Self {
        self.signatures_required = true;
        self
    }

    /// Accepts the log of this reactor only.
    #[must_use]
    pub fn of_reactor(mut self, reactor: impl Into<String>) -> Self {
        self.reactor = Some(reactor.into());
        self
    }

    /// Checks that every published tree, and every file in it, hashes to its address.
    #[must_use]
    pub fn with_contents(mut self, lookup: Lookup<'a>) -> Self {
        self.contents = Some(Contents::new(lookup));
        self
    }

    /// Checks the next receipt; `address` is the one it is stored under, where there is one.
    pub fn push(&mut self, bytes: &[u8], address: Option<&Address>) -> Vec<Finding> {
        self.position += 1;
        let sealed = match Sealed::parse(bytes) {
            Ok(sealed) => sealed,
            Err(error) => {
                self.unreadable += 1;
                return vec![self.unreadable(&error, address)];
            }
        };
        let mut problems = Vec::new();
        if let Some(stored) = address.filter(|stored| **stored != sealed.address) {
            problems.push(Problem::AddressMismatch { stored: stored.clone() });
        }
        self.check_reactor(&sealed.receipt, &mut problems);
        self.check_signature(&sealed.address, &sealed.sig, &mut problems);
        self.check_chain(&sealed, &mut problems);
        if let (Some(contents), Some(tree)) = (&mut self.contents, &sealed.receipt.world_model) {
            problems.extend(contents.check(tree));
        }
        self.root = Head::extend(&self.root, &sealed.address);
        let position = self.position;
        problems.into_iter().map(|problem| Finding::about(position, &sealed, problem)).collect()
    }

    /// Checks the head against what was read.
    pub fn finish(mut self, head: Option<&[u8]>) -> Vec<Finding> {
        let mut problems = Vec::new();
        match head.map(SignedHead::parse) {
            None => problems.push(Problem::HeadMissing),
            Some(Err(error)) => problems.push(Problem::HeadUnreadable(error)),
            Some(Ok(signed)) => {
                self.check_head(&signed.head, &mut problems);
                let mut about_signature = Vec::new();
                self.check_signature(&signed.address, &signed.sig, &mut about_signature);
                let about_head = about_signature.into_iter().map(Box::new);
                problems.extend(about_head.map(Problem::Head));
            }
        }
        if self.unsigned > 0 {
            problems
                .push(Problem::SomeUnsigned { count: self.unsigned, first: self.first_unsigned });
        }
        problems.into_iter().map(Finding::about_log).collect()
    }

    fn unreadable(&self, error: &ReceiptError, address: Option<&Address>) -> Finding {
        Finding {
            position: Some(self.position),
            seq: None,
            node: None,
            address: address.cloned(),
            problem: Problem::Unreadable(error.clone()),
        }
    }

    fn check_reactor(&mut self, receipt: &Receipt, problems: &mut Vec<Problem>) {
        let reactor = self.reactor.get_or_insert_with(|| receipt.reactor.clone());
        if *reactor != receipt.reactor {
            problems.push(Problem::OtherReactor(receipt.reactor.clone()));
        }
    }

    fn check_signature(&mut self, address: &Address, sig: &Sig, problems: &mut Vec<Problem>) {
        match self.ring.judge(address, sig) {
            Verdict::Good => {}
            Verdict::Bad => problems.push(Problem::BadSignature),
            Verdict::UnknownKey => {
                let Sig::Ed25519 { key, .. } = sig else { return };
                problems.push(Problem::UnknownKey(key.chars().take(80).collect()));
            }
            Verdict::Unsigned if self.signatures_required => problems.push(Problem::Unsigned),
            Verdict::Unsigned => {
                if self.unsigned == 0 {
                    self.first_unsigned = self.position;
                }
                self.unsigned += 1;
            }
        }
    }

    fn check_chain(&mut self, sealed: &Sealed, problems: &mut Vec<Problem>) {
        let receipt = &sealed.receipt;
        let link = self.chains.get(&receipt.node);
        let (seq, prev) = match link {
            None => (0, None),
            Some(link) => (link.seq, Some(&link.address)),
        };
        if receipt.seq <= seq {
            problems.push(Problem::Fork { expected: seq + 1 });
            return;
        }
        if receipt.seq > seq + 1 {
            problems.push(Problem::Gap { expected: seq + 1 });
        } else if receipt.prev.as_ref() != prev {
            problems.push(Problem::PrevMismatch { expected: prev.cloned() });
        }
        let link = Link { seq: receipt.seq, address: sealed.address.clone() };
        self.chains.insert(receipt.node.clone(), link);
    }

    fn check_head(&self, head: &Head, problems: &mut Vec<Problem>) {
        if self.reactor.as_ref().is_some_and(|r| *r != head.reactor) {
            problems.push(Problem::HeadOfOtherReactor(head.reactor.clone()));
        }
        let (said, read) = (head.receipts, self.position);
        if said > read {
            problems.push(Problem::Truncated { said, read });
        } else if said < read {
            problems.push(Problem::BeyondHead { said, read });
        } else if head.root != self.root || self.unreadable > 0 {
            problems.push(Problem::RootMismatch);
        }
    }
}
