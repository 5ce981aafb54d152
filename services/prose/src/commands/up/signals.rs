//! Being told to stop.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancelled at the first Ctrl-C or SIGTERM; the second one ends the process at once.
pub(super) fn stop() -> CancellationToken {
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        wait().await;
        told.cancel();
        tracing::info!("stopping; once more to stop at once");
        wait().await;
        std::process::exit(1);
    });
    stop
}

async fn wait() {
    let signals = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    let (Ok(mut interrupt), Ok(mut terminate)) = signals else {
        // Without handlers the system's own answer to both is to end the process.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
