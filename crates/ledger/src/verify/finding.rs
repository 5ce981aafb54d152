//! What verification can find.

use std::fmt;

use prose_ir::Address;
use prose_truth::TreeError;

use crate::{ReceiptError, Sealed};

/// Something found, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Position in the log, from 1; `None` where it concerns the log as a whole.
    pub position: Option<u64>,
    /// The receipt's place in its node's chain.
    pub seq: Option<u64>,
    /// The node.
    pub node: Option<String>,
    /// The receipt's address.
    pub address: Option<Address>,
    /// What was found.
    pub problem: Problem,
}

/// Kinds of findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The bytes are not a receipt.
    Unreadable(ReceiptError),
    /// Stored under an address that is not its own.
    AddressMismatch {
        /// The address it is stored under.
        stored: Address,
    },
    /// A receipt of another reactor.
    OtherReactor(String),
    /// The signature does not belong to the receipt.
    BadSignature,
    /// Signed with a key that is not believed.
    UnknownKey(String),
    /// Unsigned where signatures are required.
    Unsigned,
    /// Receipts between the last of the node and this one are missing.
    Gap {
        /// The number that should follow.
        expected: u64,
    },
    /// The node already has a receipt of this number.
    Fork {
        /// The number that should follow.
        expected: u64,
    },
    /// `prev` is not the node's receipt before this one.
    PrevMismatch {
        /// The address of that one.
        expected: Option<Address>,
    },
    /// A published tree is not there.
    TreeMissing(Address),
    /// A published tree was changed.
    TreeMismatch(Address),
    /// What a receipt calls a tree is none.
    TreeMalformed {
        /// Its address.
        tree: Address,
        /// What is wrong with it.
        error: TreeError,
    },
    /// A published file is not there.
    BlobMissing {
        /// Its path in the truth.
        path: String,
        /// Its address.
        blob: Address,
    },
    /// A published file was changed.
    BlobMismatch {
        /// Its path in the truth.
        path: String,
        /// Its address.
        blob: Address,
    },
    /// There is no head, so that missing newest receipts could not be noticed.
    HeadMissing,
    /// The bytes are not a head.
    HeadUnreadable(ReceiptError),
    /// The head is that of another reactor.
    HeadOfOtherReactor(String),
    /// Something is wrong with the head's signature.
    Head(Box<Problem>),
    /// The newest receipts are missing.
    Truncated {
        /// How many receipts the head vouches for.
        said: u64,
        /// How many were read.
        read: u64,
    },
    /// There are receipts that the head does not vouch for.
    BeyondHead {
        /// How many receipts the head vouches for.
        said: u64,
        /// How many were read.
        read: u64,
    },
    /// The log is not the one the head vouches for.
    RootMismatch,
    /// A note: this many are honestly unsigned, the head counted too.
    SomeUnsigned {
        /// How many.
        count: u64,
        /// Position of the first.
        first: u64,
    },
}

impl Finding {
    pub(super) fn about(position: u64, sealed: &Sealed, problem: Problem) -> Self {
        Self {
            position: Some(position),
            seq: Some(sealed.receipt.seq),
            node: Some(sealed.receipt.node.clone()),
            address: Some(sealed.address.clone()),
            problem,
        }
    }

    pub(super) fn about_log(problem: Problem) -> Self {
        Self { position: None, seq: None, node: None, address: None, problem }
    }

    /// Whether it is worth knowing, but nothing is wrong.
    pub fn is_note(&self) -> bool {
        matches!(self.problem, Problem::SomeUnsigned { .. })
    }

    /// Stable code for people and programs.
    pub fn code(&self) -> &'static str {
        self.problem.code()
    }
}

impl Problem {
    /// Stable code for people and programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable(error) => error.code(),
            Self::AddressMismatch { .. } => "address_mismatch",
            Self::OtherReactor(_) => "other_reactor",
            Self::BadSignature => "bad_signature",
            Self::UnknownKey(_) => "unknown_key",
            Self::Unsigned => "unsigned",
            Self::Gap { .. } => "seq_gap",
            Self::Fork { .. } => "fork",
            Self::PrevMismatch { .. } => "prev_mismatch",
            Self::TreeMissing(_) => "tree_missing",
            Self::TreeMismatch(_) => "tree_mismatch",
            Self::TreeMalformed { .. } => "tree_malformed",
            Self::BlobMissing { .. } => "blob_missing",
            Self::BlobMismatch { .. } => "blob_mismatch",
            Self::HeadMissing => "head_missing",
            Self::HeadUnreadable(_) => "head_unreadable",
            Self::HeadOfOtherReactor(_) => "head_other_reactor",
            Self::Head(problem) => match **problem {
                Self::BadSignature => "head_bad_signature",
                Self::UnknownKey(_) => "head_unknown_key",
                _ => "head_unsigned",
            },
            Self::Truncated { .. } => "log_truncated",
            Self::BeyondHead { .. } => "log_beyond_head",
            Self::RootMismatch => "root_mismatch",
            Self::SomeUnsigned { .. } => "some_unsigned",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code())?;
        if let Some(position) = self.position {
            write!(f, "receipt {position} of the log")?;
        }
        if let (Some(node), Some(seq)) = (&self.node, self.seq) {
            write!(f, " (`{node}` {seq})")?;
        }
        if self.position.is_some() {
            f.write_str(": ")?;
        }
        write!(f, "{}", self.problem)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "not a receipt: {error}"),
            Self::AddressMismatch { stored } => {
                write!(f, "stored under {stored}, which is not its address")
            }
            Self::OtherReactor(reactor) => write!(f, "belongs to the reactor {reactor:?}"),
            Self::BadSignature => f.write_str("the signature does not fit what is signed"),
            Self::UnknownKey(key) => write!(f, "signed with {key}, which is not in the key ring"),
            Self::Unsigned => f.write_str("unsigned, but signatures are required"),
            Self::Gap { expected } => {
                write!(f, "the node's receipts from {expected} on are missing")
            }
            Self::Fork { expected } => {
                write!(f, "the node has a receipt of this number; {expected} should follow")
            }
            Self::PrevMismatch { expected: Some(at) } => {
                write!(f, "`prev` is not {at}, the node's receipt before it")
            }
            Self::PrevMismatch { expected: None } => {
                f.write_str("`prev` names a receipt, but the node has none before it")
            }
            Self::TreeMissing(tree) => write!(f, "the published tree {tree} is missing"),
            Self::TreeMismatch(tree) => write!(f, "the published tree {tree} was changed"),
            Self::TreeMalformed { tree, error } => write!(f, "the tree {tree}: {error}"),
            Self::BlobMissing { path, blob } => write!(f, "the file {path:?} ({blob}) is missing"),
            Self::BlobMismatch { path, blob } => {
                write!(f, "the file {path:?} ({blob}) was changed")
            }
            Self::HeadMissing => f.write_str("there is no head of the log"),
            Self::HeadUnreadable(error) => write!(f, "not a head: {error}"),
            Self::HeadOfOtherReactor(reactor) => {
                write!(f, "the head belongs to the reactor {reactor:?}")
            }
            Self::Head(problem) => write!(f, "the head: {problem}"),
            Self::Truncated { said, read } => write!(
                f,
                "the newest receipts are missing: the head vouches for {said}, {read} are there"
            ),
            Self::BeyondHead { said, read } => {
                write!(f, "{read} receipts are there, but the head vouches for {said} only")
            }
            Self::RootMismatch => f.write_str("the log is not the one the head vouches for"),
            Self::SomeUnsigned { count, first } => {
                write!(f, "{count} are honestly unsigned, the first at position {first}")
            }
        }
    }
}
