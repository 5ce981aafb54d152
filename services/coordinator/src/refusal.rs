//! The engine's errors as gRPC statuses.

use std::error::Error as _;

use prose_api::{Fault, code, status};
use prose_engine::Error;
use tonic::{Code, Status};

/// Refuses a call for what the engine said. What only operators can mend is logged here, once.
pub(crate) fn refuse(error: Error) -> Status {
    let grpc = match &error {
        Error::NoReactor(_) | Error::NoNode { .. } | Error::NoReceipt(_) => Code::NotFound,
        Error::ReactorName(_)
        | Error::Bundle(_)
        | Error::Program(_)
        | Error::Event { .. }
        | Error::TooManyEvents(_) => Code::InvalidArgument,
        Error::Refused { .. } => Code::FailedPrecondition,
        Error::Store(store) if store.is_retryable() => Code::Unavailable,
        Error::Store(_) | Error::Damaged { .. } | Error::Receipt(_) => Code::Internal,
    };
    if matches!(grpc, Code::Unavailable | Code::Internal) {
        tracing::error!(
            error.code = error.code(),
            error = &error as &dyn std::error::Error,
            "an operation failed",
        );
    }
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let text = source.to_string();
        // Transparent errors repeat their cause's text.
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        cause = source.source();
    }
    let fault = Fault {
        code: error.code().to_owned(),
        help: help(&error),
        retryable: error.is_retryable(),
        message,
    };
    status(grpc, fault)
}

fn help(error: &Error) -> String {
    match error {
        Error::NoReactor(_) => "mount it first, as `prose up` does".to_owned(),
        Error::NoNode { .. } => "see the names with `prose topology`".to_owned(),
        Error::NoReceipt(_) => "see the addresses with `prose receipts list`".to_owned(),
        Error::Refused { why: prose_reconciler::Refused::NotFailed, .. } => {
            "to render although nothing moved, use `prose render NODE --force`".to_owned()
        }
        Error::Damaged { .. } => {
            "see what is damaged with `prose receipts verify`, and restore it from a backup"
                .to_owned()
        }
        _ => String::new(),
    }
}

/// Refuses a request whose field is missing or malformed.
pub(crate) fn invalid(message: impl Into<String>) -> Status {
    let fault = Fault {
        code: code::INVALID.to_owned(),
        message: message.into(),
        help: String::new(),
        retryable: false,
    };
    status(Code::InvalidArgument, fault)
}

/// Ends a call that waits, because the coordinator stops.
pub(crate) fn stopping() -> Status {
    let fault = Fault {
        code: code::UNREACHABLE.to_owned(),
        message: "the coordinator is stopping".to_owned(),
        help: String::new(),
        retryable: true,
    };
    status(Code::Unavailable, fault)
}
