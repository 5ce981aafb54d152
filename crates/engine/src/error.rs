//! Why an operation was refused. Codes are stable; texts may improve.

use prose_ir::BundleError;
use prose_truth::json::JsonError;

/// Why an operation was refused. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store could not do its part.
    #[error(transparent)]
    Store(#[from] prose_store::Error),
    /// Nobody created such a reactor.
    #[error("there is no reactor `{0}`")]
    NoReactor(String),
    /// The mounted graph has no such node.
    #[error("reactor `{reactor}` has no node `{node}`")]
    NoNode {
        /// The reactor.
        reactor: String,
        /// What was asked for.
        node: String,
    },
    /// The ledger has no receipt at that address, or several that begin so.
    #[error("{0}")]
    NoReceipt(String),
    /// The name cannot name a reactor.
    #[error(
        "`{0}` cannot name a reactor: use 1 to 63 of a-z, 0-9, `-` and `_`, first a letter or digit"
    )]
    ReactorName(String),
    /// The bundle breaks its rules.
    #[error("the bundle cannot be mounted: {0}")]
    Bundle(#[from] BundleError),
    /// The bundle is not what this program reads.
    #[error("the bundle cannot be mounted: {0}")]
    Program(String),
    /// An event that cannot be taken in.
    #[error("event {index} for `{gateway}` (key `{key}`): {problem}")]
    Event {
        /// Its place in the call, from zero.
        index: usize,
        /// Whom it is for.
        gateway: String,
        /// Its idempotency key.
        key: String,
        /// What is wrong with it.
        #[source]
        problem: EventProblem,
    },
    /// More events than one call may bring.
    #[error("{0} events in one call are more than {max}", max = crate::EVENTS_MAX)]
    TooManyEvents(usize),
    /// A command that makes no sense for the node as it is.
    #[error("`{node}`: {why}")]
    Refused {
        /// The node.
        node: String,
        /// Why not.
        why: prose_reconciler::Refused,
    },
    /// What is stored contradicts itself.
    #[error("the state of reactor `{reactor}` is damaged: {what}")]
    Damaged {
        /// The reactor.
        reactor: String,
        /// What was found.
        what: String,
    },
    /// A decision that cannot be written as a receipt.
    #[error("a decision cannot be written as a receipt")]
    Receipt(#[from] prose_ledger::ReceiptError),
}

/// What is wrong with an event.
#[derive(Debug, thiserror::Error)]
pub enum EventProblem {
    /// Not JSON as it is read here.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// Too large.
    #[error("{0} bytes are more than an event may have ({max})", max = crate::EVENT_BYTES_MAX)]
    TooLarge(usize),
    /// No such node.
    #[error("no such node is mounted{}", hint(.0))]
    UnknownGateway(Vec<String>),
    /// A node that takes no events.
    #[error("it takes no events; its inputs wake it")]
    NotAGateway,
    /// Without a key a repetition cannot be recognised.
    #[error("it has no idempotency key")]
    NoKey,
}

fn hint(gateways: &[String]) -> String {
    match gateways {
        [] => "; nothing here takes events".to_owned(),
        names => format!("; these take events: {}", names.join(", ")),
    }
}

impl EventProblem {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Json(error) => error.code(),
            Self::TooLarge(_) => "event_too_large",
            Self::UnknownGateway(_) => "gateway_unknown",
            Self::NotAGateway => "gateway_invalid",
            Self::NoKey => "event_key_missing",
        }
    }
}

impl Error {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::NoReactor(_) => "reactor_unknown",
            Self::NoNode { .. } => "node_unknown",
            Self::NoReceipt(_) => "receipt_unknown",
            Self::ReactorName(_) => "reactor_name_invalid",
            Self::Bundle(_) | Self::Program(_) => "bundle_invalid",
            Self::Event { problem, .. } => problem.code(),
            Self::TooManyEvents(_) => "events_too_many",
            Self::Refused { .. } => "command_refused",
            Self::Damaged { .. } => "state_damaged",
            Self::Receipt(_) => "receipt_invalid",
        }
    }

    /// Whether the same operation may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_retryable())
    }
}
