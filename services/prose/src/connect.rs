//! Reaching a coordinator: a named one, the one that `up` runs for the project, or one in this
//! process. The API is the same.

use std::{borrow::Cow, path::PathBuf, sync::Arc, time::Duration};

use prose_api::{Prose, v1};
use prose_bus::InProcessBus;
use prose_coordinator::Coordinator;
use prose_store::SqliteStore;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;

use crate::{
    commands::Context,
    error::{self, Explain},
    key,
    project::Project,
    socket,
};

/// How often, and how long apart, a coordinator is looked for that holds the state and does not
/// serve yet, or not any more.
const LOOKS: u32 = 20;
const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// Why no coordinator was reached.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{0:?} is not an address of the form http://host:port")]
    Endpoint(String),
    #[error("no coordinator answers at {endpoint}")]
    Unreachable { endpoint: String, source: tonic::transport::Error },
    #[error("nothing was ever run in {}", .0.display())]
    NoState(PathBuf),
    #[error("no `prose up` is running in {}", .0.display())]
    NotUp(PathBuf),
    #[error("the coordinator has {} reactors: {}", .0.len(), .0.join(", "))]
    WhichReactor(Vec<String>),
}

impl Explain for Error {
    fn code(&self) -> Cow<'static, str> {
        match self {
            Self::Endpoint(_) => "endpoint_malformed",
            Self::Unreachable { .. } => "coordinator_unreachable",
            Self::NoState(_) => "state_missing",
            Self::NotUp(_) => "not_running",
            Self::WhichReactor(_) => "reactor_unnamed",
        }
        .into()
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::Endpoint(_) => None,
            Self::Unreachable { .. } => Some("check --endpoint, or PROSE_ENDPOINT".into()),
            Self::NoState(_) | Self::NotUp(_) => Some("run `prose up` first".into()),
            Self::WhichReactor(_) => Some("name one with --reactor".into()),
        }
    }
}

/// A coordinator that was reached, and the reactor that is spoken of.
pub(crate) struct Session {
    pub client: Prose,
    pub reactor: String,
    local: Option<Local>,
}

/// The coordinator in this process.
struct Local {
    coordinator: Arc<Coordinator>,
    stop: CancellationToken,
    served: JoinHandle<()>,
}

impl Session {
    /// Runs `work` with a session, and ends the session whatever comes of it.
    pub async fn with<T>(
        context: &Context,
        dir: Option<&PathBuf>,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, error::Error>,
    ) -> Result<T, error::Error> {
        let mut session = Self::open(context, dir).await?;
        let outcome = work(&mut session).await;
        session.close().await;
        outcome
    }

    /// A session with somebody who keeps running: for following what happens.
    pub async fn running(
        context: &Context,
        dir: Option<&PathBuf>,
    ) -> Result<Session, error::Error> {
        if let Some(endpoint) = &context.common.endpoint {
            return Self::remote(context, dir, endpoint).await;
        }
        let project = context.project(dir)?;
        let channel = socket::connect(&project.socket()).await;
        let channel = channel.ok_or_else(|| Error::NotUp(project.root.clone()))?;
        Ok(Self::of(channel, context.reactor(&project), None))
    }

    async fn open(context: &Context, dir: Option<&PathBuf>) -> Result<Session, error::Error> {
        if let Some(endpoint) = &context.common.endpoint {
            return Self::remote(context, dir, endpoint).await;
        }
        let project = context.project(dir)?;
        let reactor = context.reactor(&project);
        for look in 1.. {
            if let Some(channel) = socket::connect(&project.socket()).await {
                return Ok(Self::of(channel, reactor, None));
            }
            if !project.state().is_dir() {
                return Err(Error::NoState(project.root).into());
            }
            match SqliteStore::open(&project.state()) {
                Ok(store) => return Self::local(&project, store, reactor).await,
                Err(prose_store::Error::Locked { .. }) if look < LOOKS => {
                    tokio::time::sleep(LOOK_PAUSE).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        unreachable!("the loop ends by returning")
    }

    /// Whether nobody else can write to the ledger meanwhile.
    pub fn is_local(&self) -> bool {
        self.local.is_some()
    }

    /// A session over a client that is there already.
    pub fn over(client: Prose, reactor: String) -> Self {
        Self { client, reactor, local: None }
    }

    fn of(channel: Channel, reactor: String, local: Option<Local>) -> Self {
        Self { client: prose_api::prose(channel), reactor, local }
    }

    async fn remote(
        context: &Context,
        dir: Option<&PathBuf>,
        endpoint: &str,
    ) -> Result<Session, error::Error> {
        let malformed = || Error::Endpoint(endpoint.to_owned());
        let uri: http::Uri = endpoint.parse().map_err(|_| malformed())?;
        if uri.scheme_str() != Some("http") || uri.port().is_none() {
            return Err(malformed().into());
        }
        let endpoint = endpoint.to_owned();
        let channel = prose_api::connect_tcp(uri)
            .await
            .map_err(|source| Error::Unreachable { endpoint, source })?;
        let mut session = Self::of(channel, String::new(), None);
        session.reactor = match (&context.common.reactor, context.project(dir)) {
            (Some(reactor), _) => reactor.clone(),
            (None, Ok(project)) => project.reactor(),
            (None, Err(_)) => session.only_reactor().await?,
        };
        Ok(session)
    }

    async fn only_reactor(&mut self) -> Result<String, error::Error> {
        let answer = self.client.list_reactors(v1::ListReactorsRequest {}).await?;
        let names: Vec<String> = answer.into_inner().reactors.into_iter().map(|r| r.name).collect();
        match <[String; 1]>::try_from(names) {
            Ok([name]) => Ok(name),
            Err(names) => Err(Error::WhichReactor(names).into()),
        }
    }

    async fn local(
        project: &Project,
        store: SqliteStore,
        reactor: String,
    ) -> Result<Session, error::Error> {
        let (signer, keys) = key::signer(project)?;
        let options = prose_coordinator::Options { policy: project.config.policy, signer, keys };
        let bus = Arc::new(InProcessBus::default());
        let coordinator = Arc::new(Coordinator::start(Arc::new(store), bus, options).await?);
        let (channel, connector) = prose_api::connect_in_process();
        let stop = CancellationToken::new();
        let served = tokio::spawn({
            let (coordinator, stop) = (Arc::clone(&coordinator), stop.clone());
            async move {
                let incoming = UnboundedReceiverStream::new(connector);
                if let Err(error) = coordinator.serve(incoming, stop).await {
                    tracing::error!(error = %error::chain(&error), "serving in process ended");
                }
            }
        });
        Ok(Self::of(channel, reactor, Some(Local { coordinator, stop, served })))
    }

    async fn close(self) {
        let Some(local) = self.local else { return };
        drop(self.client);
        local.stop.cancel();
        // Its only end is that every connection is closed, and ours just was.
        let _ = local.served.await;
        if let Some(coordinator) = Arc::into_inner(local.coordinator) {
            coordinator.stop().await;
        }
    }
}
