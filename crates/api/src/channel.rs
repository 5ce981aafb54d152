//! Ways to reach a coordinator: over TCP, over a Unix socket, or inside this process.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use hyper_util::rt::TokioIo;
use tokio::{
    io::DuplexStream,
    net::UnixStream,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};
use tonic::transport::{Channel, Endpoint, Error, Uri};

/// Long enough for any single call but `WaitQuiet` and `Watch`, which are kept alive by pings.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Bytes in flight on an in-process connection, each way.
const DUPLEX_BYTES: usize = 256 << 10;

fn endpoint(uri: Uri) -> Endpoint {
    Endpoint::from(uri)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .initial_stream_window_size(Some(4 << 20))
        .initial_connection_window_size(Some(8 << 20))
}

/// A name for connections whose address is not looked up.
fn nowhere() -> Uri {
    Uri::from_static("http://prose.invalid")
}

/// Connects over TCP, to `http://host:port`.
///
/// # Errors
/// When nobody listens there.
pub async fn connect_tcp(uri: Uri) -> Result<Channel, Error> {
    endpoint(uri).connect().await
}

/// Connects over a Unix socket.
///
/// # Errors
/// When nobody listens there.
pub async fn connect_unix(path: &Path) -> Result<Channel, Error> {
    let path = PathBuf::from(path);
    let connect = tower::service_fn(move |_: Uri| {
        let path = path.clone();
        async move { UnixStream::connect(path).await.map(TokioIo::new) }
    });
    endpoint(nowhere()).connect_with_connector(connect).await
}

/// The listening end of an in-process connection: each item is one connection to serve.
pub type Connector = UnboundedReceiver<std::io::Result<DuplexStream>>;

/// A channel inside this process, and the connections that a server has to accept for it.
///
/// # Errors
/// When the first connection cannot be made, which takes a server that is gone.
pub fn connect_in_process() -> (Channel, Connector) {
    let (sender, receiver) = unbounded_channel();
    let sender: Arc<Mutex<UnboundedSender<std::io::Result<DuplexStream>>>> =
        Arc::new(Mutex::new(sender));
    let connect = tower::service_fn(move |_: Uri| {
        let (near, far) = tokio::io::duplex(DUPLEX_BYTES);
        let sent = sender.lock().map(|s| s.send(Ok(far)).is_ok()).unwrap_or(false);
        let gone = || std::io::Error::new(std::io::ErrorKind::ConnectionRefused, "server is gone");
        std::future::ready(if sent { Ok(TokioIo::new(near)) } else { Err(gone()) })
    });
    (endpoint(nowhere()).connect_with_connector_lazy(connect), receiver)
}
