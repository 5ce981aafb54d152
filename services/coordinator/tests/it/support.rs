//! A coordinator, and clients that reach it as they would across machines.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use prose_api::{
    Fault, Prose, Work, connect_in_process, fault,
    v1::{self, commit_request::Outcome},
};
use prose_bus::InProcessBus;
use prose_compiler::{Host, compile_sources};
use prose_coordinator::{Coordinator, Options};
use prose_ledger::{Sealed, Signer};
use prose_reconciler::Policy;
use prose_store::SqliteStore;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Response, Status};

pub const REACTOR: &str = "shop";

/// A gateway with two facets.
const FEED: &str = "---\nname: feed\nkind: gateway\n---\n\n### Goal\n\nThe newest poll.\n\n\
    ### Maintains\n\n#### prices\n\nWhat things cost.\n\n#### stock\n\nHow many there are.\n";
/// Reads one of them; its render has to attest something.
const PRICED: &str = "---\nname: priced\nkind: responsibility\n---\n\n### Goal\n\nThe sum.\n\n\
    ### Requires\n\n- `prices` from `feed`\n\n### Maintains\n\n- `total`: the sum\n\n\
    Postcondition: the sum is right.\n";
/// A gateway that renders its events.
const INBOX: &str = "---\nname: inbox\nkind: gateway\n---\n\n### Goal\n\nAll mail.\n\n\
    ### Continuity\n\n- external-driven\n\n### Maintains\n\n- `seen`: everything that came\n\n\
    ### Execution\n\nAdd each event to what was seen.\n";

pub struct Server {
    pub prose: Prose,
    pub work: Work,
    pub bus: InProcessBus,
    pub store: SqliteStore,
    pub stop: CancellationToken,
    serving: JoinHandle<Coordinator>,
    folder: TempDir,
}

pub fn bundle() -> Vec<u8> {
    let source = |(i, text): (usize, &&str)| (format!("{i}.prose.md"), text.as_bytes().to_vec());
    let sources: BTreeMap<String, Vec<u8>> =
        [FEED, PRICED, INBOX].iter().enumerate().map(source).collect();
    let compilation = compile_sources(&sources, &Host::trusting());
    let errors: Vec<_> = compilation.errors().map(|d| d.message.clone()).collect();
    serde_json::to_vec(&compilation.bundle.unwrap_or_else(|| panic!("{errors:?}"))).unwrap()
}

pub fn poll(key: &str, prices: i64, stock: i64) -> v1::Event {
    let body = format!(r#"{{"prices":{{"value":{prices}}},"stock":{{"value":{stock}}}}}"#);
    event("feed", key, &body)
}

pub fn event(gateway: &str, key: &str, body: &str) -> v1::Event {
    let event = body.as_bytes().to_vec().into();
    v1::Event { gateway: gateway.to_owned(), event, key: key.to_owned() }
}

pub fn reactor() -> String {
    REACTOR.to_owned()
}

/// A commit that attests whatever the lease asks for.
pub fn rendered(lease: &v1::Lease, truth: &str) -> v1::CommitRequest {
    let files = [("truth.json".to_owned(), truth.as_bytes().to_vec().into())].into();
    let attestations = lease.attest.iter().map(|a| (a.id.clone(), true)).collect();
    let files = Some(v1::Files { files });
    commit(lease, Outcome::Rendered(v1::Rendered { files, attestations, diff: String::new() }))
}

pub fn commit(lease: &v1::Lease, outcome: Outcome) -> v1::CommitRequest {
    let usage = v1::Usage { harness: "test".into(), fresh_tokens: 3, ..Default::default() };
    v1::CommitRequest {
        reactor: reactor(),
        node: lease.node.clone(),
        fence: lease.fence,
        outcome: Some(outcome),
        usage: Some(usage),
    }
}

/// What is bound to happen; a test that waits in vain fails instead of hanging.
pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(30);
    tokio::time::timeout(limit, future).await.unwrap_or_else(|_| panic!("waited in vain"))
}

/// The typed refusal of a call that must be refused.
#[track_caller]
pub fn refused<T: std::fmt::Debug>(answer: Result<Response<T>, Status>) -> Fault {
    fault(&answer.unwrap_err())
}

impl Server {
    pub async fn start() -> Self {
        Self::on(tempfile::tempdir().unwrap()).await
    }

    /// Mounted, with a truth at the feed.
    pub async fn fed() -> Self {
        let mut server = Self::start().await;
        server.mount().await;
        server.ingest(vec![poll("first", 1, 10)]).await;
        server
    }

    async fn on(folder: TempDir) -> Self {
        let store = SqliteStore::open(folder.path()).unwrap();
        let bus = InProcessBus::default();
        let options = Options {
            policy: Policy::default(),
            signer: Signer::ed25519(&[7; 32]),
            keys: Vec::new(),
        };
        let (on, out) = (Arc::new(store.clone()), Arc::new(bus.clone()));
        let coordinator = Coordinator::start(on, out, options).await.unwrap();
        let (channel, connections) = connect_in_process();
        let stop = CancellationToken::new();
        let token = stop.clone();
        let serving = tokio::spawn(async move {
            let incoming = UnboundedReceiverStream::new(connections);
            coordinator.serve(incoming, token).await.unwrap();
            coordinator
        });
        let (prose, work) = (prose_api::prose(channel.clone()), prose_api::work(channel));
        Self { prose, work, bus, store, stop, serving, folder }
    }

    /// Stops serving, then everything else. What is stored stays.
    pub async fn stopped(self) -> (SqliteStore, TempDir) {
        self.stop.cancel();
        let coordinator = soon(self.serving).await.unwrap();
        soon(coordinator.stop()).await;
        (self.store, self.folder)
    }

    /// The same state behind a new coordinator.
    pub async fn restarted(self) -> Self {
        let (store, folder) = self.stopped().await;
        drop(store);
        Self::on(folder).await
    }

    pub async fn mount(&mut self) -> v1::MountResponse {
        let request = v1::MountRequest { reactor: reactor(), bundle: bundle().into() };
        self.prose.mount(request).await.unwrap().into_inner()
    }

    pub async fn ingest(&mut self, events: Vec<v1::Event>) -> Vec<v1::EventOutcome> {
        let request = v1::IngestRequest { reactor: reactor(), events };
        self.prose.ingest(request).await.unwrap().into_inner().outcomes
    }

    pub async fn claim(&mut self, node: &str) -> Option<v1::Lease> {
        let (node, worker) = (node.to_owned(), "worker".to_owned());
        let request = v1::ClaimRequest { reactor: reactor(), node, worker };
        self.work.claim(request).await.unwrap().into_inner().lease
    }

    pub async fn commit(&mut self, request: v1::CommitRequest) -> v1::CommitResponse {
        self.work.commit(request).await.unwrap().into_inner()
    }

    pub async fn status(&mut self) -> v1::GetStatusResponse {
        let request = v1::GetStatusRequest { reactor: reactor() };
        self.prose.get_status(request).await.unwrap().into_inner()
    }

    pub async fn node(&mut self, node: &str) -> v1::NodeStatus {
        let nodes = self.status().await.nodes;
        nodes.into_iter().find(|status| status.name == node).unwrap()
    }

    pub async fn receipts(&mut self, node: &str) -> Vec<v1::Receipt> {
        let request = v1::ListReceiptsRequest {
            reactor: reactor(),
            node: node.to_owned(),
            ..Default::default()
        };
        self.prose.list_receipts(request).await.unwrap().into_inner().receipts
    }
}

pub fn read(receipt: &v1::Receipt) -> prose_ledger::Receipt {
    Sealed::parse(&receipt.body).unwrap().receipt
}
