//! A world to run an engine in: contracts, a store in a folder, a clock that stands still.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use prose_compiler::{Host, compile_sources};
use prose_engine::{
    Clock, CommitAnswer, CommitRequest, Engine, Error, EventOutcome, EventStatus, IncomingEvent,
    Mounted, NodeReport, Options, RenderLease, SessionResult,
};
use prose_ir::{Address, Bundle};
use prose_ledger::{
    CostSummary, Receipt, Sealed, Signer, Status,
    verify::{Verifier, verify},
};
use prose_reconciler::{Cost, Policy};
use prose_store::{Page, ReceiptQuery, SqliteStore, Store};
use prose_truth::{Files, Tree, TreePath, document};
use serde_json::Value;
use tempfile::TempDir;

pub const REACTOR: &str = "shop";

pub const POLICY: Policy = Policy {
    lease_ms: 1_000,
    attempts_max: 3,
    backoff_ms: 100,
    backoff_max_ms: 1_000,
    patience_ms: 10_000,
};

/// A gateway with two facets, an immaterial field and a condition.
pub const FEED: &str = "---\nname: feed\nkind: gateway\n---\n\n### Goal\n\nThe newest poll.\n\n\
    ### Maintains\n\n- `fetched_at`: when it was made (optional)\n\n\
    `fetched_at` is immaterial everywhere.\n\n\
    Postcondition: no price is negative: `self.prices.value >= 0`\n\n\
    #### prices\n\nWhat things cost.\n\n#### stock\n\nHow many there are.\n";
/// Reads one facet of the feed; has a condition that code decides.
pub const PRICED: &str = "---\nname: priced\nkind: responsibility\n---\n\n### Goal\n\nThe sum.\n\n\
    ### Requires\n\n- `prices` from `feed`\n\n### Maintains\n\n- `total`: the sum\n\n\
    Postcondition: the sum is that of the feed: `self.total == inputs.prices.prices.value`\n";
/// Reads the other facet of the feed.
pub const STOCKED: &str = "---\nname: stocked\nkind: responsibility\n---\n\n### Goal\n\nThe count.\n\n\
    ### Requires\n\n- `stock` from `feed`\n\n### Maintains\n\n- `total`: the count\n";
/// Closes the diamond; has a condition that only its render can attest.
pub const REPORT: &str = "---\nname: report\nkind: responsibility\n---\n\n### Goal\n\nOne line.\n\n\
    ### Requires\n\n- `priced`: the sum, as a whole\n- `stocked`: the count, as a whole\n\n\
    ### Maintains\n\n- `line`: what one would say aloud\n\n\
    Postcondition: the line reads well.\n";
/// A gateway that renders its events.
pub const INBOX: &str = "---\nname: inbox\nkind: gateway\n---\n\n### Goal\n\nAll mail, sorted.\n\n\
    ### Continuity\n\n- external-driven\n\n### Maintains\n\n- `seen`: everything that came\n\n\
    ### Execution\n\nRead the events in order and add each to what was seen.\n";

pub const SHOP: [&str; 4] = [FEED, PRICED, STOCKED, REPORT];

#[derive(Debug, Default)]
pub struct FakeClock(AtomicI64);

impl Clock for FakeClock {
    fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl FakeClock {
    /// Lets time pass without telling anybody.
    pub fn set_forward(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

pub struct World {
    pub clock: Arc<FakeClock>,
    pub engine: Arc<Engine>,
    pub store: SqliteStore,
    pub folder: TempDir,
}

pub fn bundle(contracts: &[&str]) -> Bundle {
    let source = |(i, text): (usize, &&str)| (format!("{i}.prose.md"), text.as_bytes().to_vec());
    let sources: BTreeMap<String, Vec<u8>> = contracts.iter().enumerate().map(source).collect();
    let compilation = compile_sources(&sources, &Host::trusting());
    let errors: Vec<_> = compilation.errors().map(|d| d.message.clone()).collect();
    compilation.bundle.unwrap_or_else(|| panic!("{errors:?}"))
}

pub fn engine(store: &SqliteStore, clock: &Arc<FakeClock>) -> Arc<Engine> {
    let options = Options {
        policy: POLICY,
        signer: Signer::ed25519(&[7; 32]),
        keys: Vec::new(),
        clock: clock.clone(),
    };
    Arc::new(Engine::new(Arc::new(store.clone()), options))
}

pub fn event(gateway: &str, key: &str, body: impl AsRef<[u8]>) -> IncomingEvent {
    let body = body.as_ref().to_vec();
    IncomingEvent { gateway: gateway.to_owned(), body, key: key.to_owned() }
}

/// An event of the feed.
pub fn poll(key: &str, prices: i64, stock: i64) -> IncomingEvent {
    let body = format!(r#"{{"prices":{{"value":{prices}}},"stock":{{"value":{stock}}}}}"#);
    event("feed", key, body)
}

pub fn files(truth: &str) -> Files {
    let mut files = Files::new();
    files.insert(TreePath::new("truth.json").unwrap(), truth.as_bytes());
    files
}

pub fn tokens(fresh: u64) -> Cost {
    Cost { harness: Some("test".into()), fresh, ..Cost::default() }
}

/// A commit that attests whatever the lease asks for.
pub fn rendered(lease: &RenderLease, truth: &str) -> CommitRequest {
    let attestations = lease.attest.iter().map(|(id, _)| (id.clone(), true)).collect();
    let result = SessionResult::Rendered { files: files(truth), attestations, diff: None };
    CommitRequest { fence: lease.lease.fence, result, cost: tokens(1) }
}

pub fn crashed(lease: &RenderLease, fresh: u64) -> CommitRequest {
    let result = SessionResult::Infrastructure { reason: "it crashed".into() };
    CommitRequest { fence: lease.lease.fence, result, cost: tokens(fresh) }
}

pub fn gave_up(lease: &RenderLease) -> CommitRequest {
    let (reason, needs, addressed_to) = ("too hard".into(), None, None);
    let result = SessionResult::Failed { reason, needs, addressed_to };
    CommitRequest { fence: lease.lease.fence, result, cost: tokens(1) }
}

impl World {
    /// A store with nothing in it.
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let clock = Arc::new(FakeClock(AtomicI64::new(1_700_000_000_000)));
        Self { engine: engine(&store, &clock), clock, store, folder }
    }

    pub async fn new(contracts: &[&str]) -> Self {
        let world = Self::empty();
        world.mount(contracts).await;
        world
    }

    /// The shop, with a truth everywhere.
    pub async fn settled() -> Self {
        let world = Self::new(&SHOP).await;
        world.ingest(vec![poll("first", 1, 10)]).await;
        world.work().await;
        assert!(world.is_quiet().await);
        world
    }

    pub async fn mount(&self, contracts: &[&str]) -> Mounted {
        self.engine.mount(REACTOR, bundle(contracts)).await.unwrap()
    }

    pub async fn ingest(&self, events: Vec<IncomingEvent>) -> Vec<EventOutcome> {
        self.engine.ingest(REACTOR, events).await.unwrap()
    }

    pub async fn statuses_of(&self, events: Vec<IncomingEvent>) -> Vec<EventStatus> {
        self.ingest(events).await.into_iter().map(|outcome| outcome.status).collect()
    }

    pub async fn claim(&self, node: &str) -> RenderLease {
        let lease = self.engine.claim(REACTOR, node, "worker").await.unwrap();
        lease.unwrap_or_else(|| panic!("`{node}` has nothing to render"))
    }

    pub async fn commit(&self, node: &str, request: CommitRequest) -> CommitAnswer {
        self.engine.commit(REACTOR, node, request).await.unwrap()
    }

    pub async fn node(&self, node: &str) -> NodeReport {
        self.engine.node(REACTOR, node).await.unwrap()
    }

    pub async fn is_quiet(&self) -> bool {
        self.engine.status(REACTOR).await.unwrap().quiet
    }

    pub async fn ready(&self) -> Vec<String> {
        let report = self.engine.status(REACTOR).await.unwrap();
        let ready =
            |n: &NodeReport| matches!(n.condition, prose_reconciler::Condition::Ready { .. });
        report.nodes.into_iter().filter(ready).map(|n| n.name.to_string()).collect()
    }

    /// Renders one node of the shop honestly.
    pub async fn render(&self, node: &str) -> CommitAnswer {
        let lease = self.claim(node).await;
        let truth = honest(&lease);
        self.commit(node, rendered(&lease, &truth)).await
    }

    /// Renders whatever is ready until nothing is.
    pub async fn work(&self) {
        while let Some(node) = self.ready().await.first() {
            let answer = self.render(node).await;
            assert!(matches!(answer, CommitAnswer::Rendered(_)), "{answer:?}");
        }
    }

    /// Lets time pass, and the engine do what is due.
    pub async fn pass(&self, millis: i64) {
        self.clock.set_forward(millis);
        self.engine.advance(REACTOR).await.unwrap();
    }

    /// The same state under a new engine, as after a crash.
    pub fn restarted(self) -> Self {
        let Self { clock, engine, store, folder } = self;
        drop((engine, store));
        let store = SqliteStore::open(folder.path()).unwrap();
        Self { engine: self::engine(&store, &clock), clock, store, folder }
    }

    pub async fn receipts(&self) -> Vec<Receipt> {
        let bytes = self.ledger().await;
        bytes.iter().map(|bytes| Sealed::parse(bytes).unwrap().receipt).collect()
    }

    /// The receipts of one node.
    pub async fn chain(&self, node: &str) -> Vec<Receipt> {
        let mut receipts = self.receipts().await;
        receipts.retain(|receipt| receipt.node == node);
        receipts
    }

    pub async fn statuses(&self, node: &str) -> Vec<Status> {
        self.chain(node).await.iter().map(|receipt| receipt.status).collect()
    }

    async fn ledger(&self) -> Vec<Vec<u8>> {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let query = ReceiptQuery { node: None, page: Page::OldestFirst { after }, limit: 100 };
            let rows = self.engine.receipts(REACTOR, query).await.unwrap();
            let Some(last) = rows.last() else { return all };
            after = last.position;
            all.extend(rows.into_iter().map(|row| row.bytes));
        }
    }

    /// The published truth of a node as one document.
    pub async fn truth(&self, node: &str) -> Option<Value> {
        let (_, tree) = self.node(node).await.truth?;
        let mut contents = BTreeMap::new();
        self.collect(&tree, &mut contents).await;
        let parsed = Tree::parse(&contents[&tree]).unwrap();
        let file = |(path, entry): (&TreePath, &prose_truth::Entry)| {
            (path.clone(), contents[&entry.blob].as_slice().into())
        };
        let files: Files = parsed.files().iter().map(file).collect();
        Some(document(&files).unwrap())
    }

    async fn collect(&self, tree: &Address, contents: &mut BTreeMap<Address, Vec<u8>>) {
        if contents.contains_key(tree) {
            return;
        }
        let found = self.store.contents(std::slice::from_ref(tree)).await.unwrap();
        if let Some(parsed) = found.get(tree).and_then(|bytes| Tree::parse(bytes).ok()) {
            let blobs: Vec<_> = parsed.files().values().map(|entry| entry.blob.clone()).collect();
            contents.extend(self.store.contents(&blobs).await.unwrap());
        }
        contents.extend(found);
    }

    /// Everything that is stored, as text.
    pub async fn rows(&self) -> String {
        let loaded = self.store.load(REACTOR).await.unwrap();
        let outbox = self.store.outbox(10_000).await.unwrap();
        format!("{loaded:#?}\n{:#?}\n{outbox:#?}", self.ledger().await)
    }

    /// Verifies the whole ledger, contents included, and what must hold of every ledger.
    pub async fn assert_sound(&self) {
        let ledger = self.ledger().await;
        let mut contents = BTreeMap::new();
        let receipts = self.receipts().await;
        for tree in receipts.iter().filter_map(|receipt| receipt.world_model.as_ref()) {
            self.collect(tree, &mut contents).await;
        }
        let ring = self.engine.key_ring().unwrap();
        let verifier = Verifier::new(&ring)
            .require_signatures()
            .of_reactor(REACTOR)
            .with_contents(Box::new(|address| contents.get(address).cloned()));
        let head = self.engine.head(REACTOR).await.unwrap();
        let report = verify(verifier, &ledger, Some(&head));
        assert!(report.is_sound() && report.findings.is_empty(), "{:#?}", report.findings);
        let costs = CostSummary::of(&receipts);
        let by_cause: u64 = costs.all.by_cause.values().map(|tally| tally.fresh).sum();
        assert_eq!(by_cause, costs.all.total.fresh);
        // The state in memory is that which is stored.
        let known = format!("{:?}", self.engine.status(REACTOR).await.unwrap());
        let fresh = engine(&self.store, &self.clock).status(REACTOR).await.unwrap();
        assert_eq!(known, format!("{fresh:?}"));
    }

    /// Fresh tokens on all receipts of a node.
    pub async fn charged(&self, node: &str) -> u64 {
        self.chain(node).await.iter().map(|receipt| receipt.cost.tokens.fresh).sum()
    }
}

/// What a node of the shop makes of what it reads.
pub fn honest(lease: &RenderLease) -> String {
    let read = |i: usize| document(lease.inputs[i].as_ref().unwrap()).unwrap();
    match lease.contract.node.as_str() {
        "priced" => format!(r#"{{"total":{}}}"#, read(0)["prices"]["value"]),
        "stocked" => format!(r#"{{"total":{}}}"#, read(0)["stock"]["value"]),
        "report" => format!(r#"{{"line":"{} and {}"}}"#, read(0)["total"], read(1)["total"]),
        "inbox" => {
            let prior = lease.prior.as_ref().map(|files| document(files).unwrap());
            let mut seen = prior.map_or_else(Vec::new, |p| p["seen"].as_array().unwrap().clone());
            seen.extend(lease.events.iter().map(|e| serde_json::from_slice::<Value>(e).unwrap()));
            serde_json::json!({ "seen": seen }).to_string()
        }
        other => panic!("nobody knows how to render `{other}`"),
    }
}

#[track_caller]
pub fn code<T: std::fmt::Debug>(outcome: Result<T, Error>) -> &'static str {
    outcome.unwrap_err().code()
}

/// What is bound to happen; a test that waits in vain fails instead of hanging.
pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    let limit = std::time::Duration::from_secs(30);
    tokio::time::timeout(limit, future).await.unwrap_or_else(|_| panic!("waited in vain"))
}
