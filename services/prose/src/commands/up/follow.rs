//! Following the ledger while the house stands.

use prose_api::{Prose, v1};

use super::progress::Progress;
use crate::{commands::watch, show::Output};

/// Counts receipts after a position and, given an output, shows them.
pub(super) async fn follow(
    mut client: Prose,
    reactor: String,
    after: u64,
    output: Option<Output>,
    progress: Progress,
) {
    let request = v1::WatchRequest { reactor, after, from_now: false };
    let mut stream = match client.watch(request).await {
        Ok(stream) => stream.into_inner(),
        Err(status) => {
            tracing::warn!(error = %status, "receipts cannot be followed");
            return;
        }
    };
    // The stream ends with the house, which is no news.
    while let Ok(Some(row)) = stream.message().await {
        progress.receipt();
        if let Some(output) = output
            && let Err(error) = watch::print(output, &row)
        {
            tracing::warn!(error = error.message, "a receipt cannot be shown");
        }
    }
}
