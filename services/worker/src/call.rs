//! Calls to the coordinator, with an end to waiting.

use std::{future::Future, time::Duration};

use prose_api::{Fault, code};
use tokio::time::timeout;
use tonic::{Code, Response, Status};

/// Waits for the answer to a call, at most `patience`.
pub(crate) async fn call<T>(
    patience: Duration,
    answer: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T, Fault> {
    match timeout(patience, answer).await {
        Ok(Ok(response)) => Ok(response.into_inner()),
        Ok(Err(status)) => Err(fault(&status)),
        Err(_) => Err(Fault {
            code: code::UNREACHABLE.to_owned(),
            message: format!("the coordinator has not answered within {patience:?}"),
            help: String::new(),
            retryable: true,
        }),
    }
}

/// A connection that breaks in the middle of a call ends it as something internal or unknown,
/// which is no word of the coordinator's.
fn fault(status: &Status) -> Fault {
    let mut fault = prose_api::fault(status);
    fault.retryable |=
        fault.code == code::INTERNAL && matches!(status.code(), Code::Internal | Code::Unknown);
    fault
}
