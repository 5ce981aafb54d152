//! Errors on the wire: a gRPC status for machines in between, an [`ErrorInfo`] for the caller.

use prost::Message;
use tonic::{Code, Status, metadata::MetadataValue};

use crate::v1::ErrorInfo;

const TRAILER: &str = "prose-error-bin";

/// A refusal as the caller sees it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// Stable, snake_case.
    pub code: String,
    /// What is wrong, naming the place.
    pub message: String,
    /// What to do; empty when there is nothing to say.
    pub help: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
}

/// Stable codes of refusals that the API itself gives.
pub mod code {
    /// A field of the request is missing or malformed.
    pub const INVALID: &str = "request_invalid";
    /// No such reactor, node or receipt.
    pub const NOT_FOUND: &str = "not_found";
    /// The coordinator cannot be reached.
    pub const UNREACHABLE: &str = "coordinator_unreachable";
    /// Something that should not happen; the coordinator has logged it.
    pub const INTERNAL: &str = "internal";
}

/// Puts a refusal on the wire under the gRPC code that fits.
pub fn status(grpc: Code, fault: Fault) -> Status {
    let mut status = Status::new(grpc, fault.message.clone());
    let info = ErrorInfo {
        code: fault.code,
        message: fault.message,
        help: fault.help,
        retryable: fault.retryable,
    };
    let value = MetadataValue::from_bytes(&info.encode_to_vec());
    status.metadata_mut().insert_bin(TRAILER, value);
    status
}

/// Reads a refusal off the wire. A status that did not come from a coordinator of ours, as when
/// the connection broke, becomes a fault of its own.
pub fn fault(status: &Status) -> Fault {
    let info = status.metadata().get_bin(TRAILER).and_then(|v| v.to_bytes().ok());
    if let Some(info) = info.and_then(|bytes| ErrorInfo::decode(bytes).ok()) {
        return Fault {
            code: info.code,
            message: info.message,
            help: info.help,
            retryable: info.retryable,
        };
    }
    // A deadline of the endpoint ends a call as `Cancelled`.
    let unreachable =
        matches!(status.code(), Code::Unavailable | Code::Cancelled | Code::DeadlineExceeded);
    let code = if unreachable { code::UNREACHABLE } else { code::INTERNAL };
    Fault {
        code: code.to_owned(),
        message: format!("the coordinator's answer: {} ({:?})", status.message(), status.code()),
        help: String::new(),
        retryable: unreachable,
    }
}
