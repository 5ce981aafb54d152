//! Building the parts, and taking them down in order.

use std::{
    borrow::Cow,
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use prose_api::Prose;
use prose_bus::{Bus, InProcessBus};
use prose_coordinator::Coordinator;
use prose_store::SqliteStore;
use prose_worker::Worker;
use tokio::{
    net::{TcpListener, UnixListener},
    task::JoinSet,
};
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;

use super::harnesses;
use crate::{
    cli::Up,
    commands::Context,
    error::{self, Explain},
    key,
    project::Project,
    socket,
};

/// How long renders have to end when the house is taken down; then they are handed back.
const DRAIN: Duration = Duration::from_secs(10);

/// How long open connections have to end after that.
const CLOSE: Duration = Duration::from_secs(2);

/// Why the house does not stand.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{} cannot be used", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot listen at {at}")]
    Listen { at: String, source: io::Error },
    #[error("the project's own socket does not answer")]
    Deaf,
}

impl Explain for Error {
    fn code(&self) -> Cow<'static, str> {
        match self {
            Self::Folder { .. } => "private_folder_unusable",
            Self::Listen { .. } => "listen_failed",
            Self::Deaf => "coordinator_unreachable",
        }
        .into()
    }
}

/// A running coordinator with its workers.
pub(super) struct House {
    coordinator: Arc<Coordinator>,
    worker: Worker,
    served: JoinSet<()>,
    stop: CancellationToken,
    socket: PathBuf,
    channel: Channel,
}

impl House {
    /// Opens the state, and serves it; ports are bound before work starts.
    pub async fn open(
        context: &Context,
        project: &Project,
        asked: &Up,
    ) -> Result<Self, error::Error> {
        for folder in [project.private(), project.tasks()] {
            socket::make_private(&folder)
                .map_err(|source| Error::Folder { path: folder, source })?;
        }
        let store = SqliteStore::open(&project.state())?;
        let (signer, keys) = key::signer(project)?;
        let harnesses = harnesses::harnesses(project)?;
        let at = project.socket();
        let unix = socket::listen(&at)
            .map_err(|source| Error::Listen { at: at.display().to_string(), source })?;
        let tcp = match asked.listen.or(project.config.tcp) {
            Some(address) => Some(listen_tcp(context, address).await?),
            None => None,
        };

        let bus: Arc<dyn Bus> = Arc::new(InProcessBus::default());
        let options = prose_coordinator::Options { policy: project.config.policy, signer, keys };
        let coordinator = Coordinator::start(Arc::new(store), Arc::clone(&bus), options).await?;
        let coordinator = Arc::new(coordinator);
        let stop = CancellationToken::new();
        let served = serve(&coordinator, unix, tcp, &stop);
        let channel = socket::connect(&at).await.ok_or(Error::Deaf)?;
        let worker = Worker::start(channel.clone(), bus, worker(project, harnesses, asked));
        Ok(Self { coordinator, worker, served, stop, socket: at, channel })
    }

    /// A client over the project's socket.
    pub fn client(&self) -> Prose {
        prose_api::prose(self.channel.clone())
    }

    /// Ends what runs, hands back what does not end, and closes the state.
    pub async fn close(self) {
        let Self { coordinator, worker, mut served, stop, socket, channel } = self;
        worker.drain(DRAIN).await;
        drop(channel);
        stop.cancel();
        // Connections of others may stay open as long as they like.
        let all = async { while served.join_next().await.is_some() {} };
        if tokio::time::timeout(CLOSE, all).await.is_err() {
            served.shutdown().await;
        }
        if let Some(coordinator) = Arc::into_inner(coordinator) {
            coordinator.stop().await;
        }
        // Also the next one could do it.
        let _ = fs::remove_file(socket);
    }
}

async fn listen_tcp(context: &Context, address: SocketAddr) -> Result<TcpListener, Error> {
    if !address.ip().is_loopback() {
        context.output.note(&format!(
            "warning: everybody who reaches {address} may do everything with this project"
        ));
    }
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|source| Error::Listen { at: address.to_string(), source })?;
    if let Ok(address) = listener.local_addr() {
        context.output.note(&format!("listening at http://{address}"));
    }
    Ok(listener)
}

fn serve(
    coordinator: &Arc<Coordinator>,
    unix: UnixListener,
    tcp: Option<TcpListener>,
    stop: &CancellationToken,
) -> JoinSet<()> {
    let mut served = JoinSet::new();
    let (on_unix, stop_unix) = (Arc::clone(coordinator), stop.clone());
    served.spawn(async move {
        ended(on_unix.serve(UnixListenerStream::new(unix), stop_unix).await);
    });
    if let Some(tcp) = tcp {
        let (on_tcp, stop_tcp) = (Arc::clone(coordinator), stop.clone());
        served.spawn(async move {
            ended(on_tcp.serve(TcpListenerStream::new(tcp), stop_tcp).await);
        });
    }
    served
}

fn ended(outcome: Result<(), tonic::transport::Error>) {
    if let Err(error) = outcome {
        tracing::error!(error = %error::chain(&error), "serving ended");
    }
}

fn worker(
    project: &Project,
    harnesses: prose_render::Harnesses,
    asked: &Up,
) -> prose_worker::Options {
    prose_worker::Options {
        name: format!("up-{}", std::process::id()),
        concurrency: asked.workers.map_or(project.config.concurrency, usize::from),
        render: prose_render::RenderOptions {
            scratch: project.tasks(),
            // What is not text cannot be named by a contract's `### Environment`, or used by it.
            environment: std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
            limits: project.config.limits.clone(),
        },
        harnesses,
    }
}

/// Keeps the manifest that is mounted beside the one of the next compile.
pub(super) fn keep_active(project: &Project) -> Result<(), error::Error> {
    let next = project.dist().join(prose_compiler::MANIFEST_NEXT);
    let active = project.dist().join("manifest.active.json");
    copy_whole(&next, &active).map_err(|source| Error::Folder { path: active, source }.into())
}

fn copy_whole(from: &Path, to: &Path) -> io::Result<()> {
    let unfinished = to.with_extension("json~");
    fs::copy(from, &unfinished)?;
    fs::rename(unfinished, to)
}
