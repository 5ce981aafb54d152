//! One worker, its bus, its coordinator, and a folder in which sessions meet the test.

use std::{collections::BTreeMap, fmt::Debug, fs, path::Path, sync::Arc, time::Duration};

use prose_api::v1::{self, commit_request::Outcome, work_server::WorkServer};
use prose_bus::{Bus, InProcessBus, Message, subject};
use prose_harness::Limits;
use prose_ir::{Contract, Fingerprint, NodeKind};
use prose_render::{HarnessSpec, Harnesses, JqCommand, RenderOptions};
use prose_testkit::Project;
use prose_worker::{Options, Worker};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::{Channel, Server};

use crate::coordinator::{Coordinator, Seen};

pub const LIMIT: Duration = Duration::from_secs(20);
/// Long enough that a lease does not run out in a test.
pub const LONG_MS: u64 = 60_000;

/// Says that it runs, and goes on when the test opens the gate.
pub const WAITS: &str = r"echo $$ >> $MEET/started
until [ -e $MEET/gate ]; do sleep 0.02; done
";
pub const PUBLISHES: &str = r#"echo '{"n": 1}' > published/truth.json
echo '{"status": "rendered", "usage": {"fresh_tokens": 5}}' > result.json
"#;

pub struct World {
    pub coordinator: Coordinator,
    pub bus: Arc<InProcessBus>,
    pub project: Project,
    channel: Channel,
    published: u32,
}

impl World {
    /// Must be made in a runtime.
    pub fn new() -> Self {
        let coordinator = Coordinator::default();
        let (channel, connector) = prose_api::connect_in_process();
        let service = WorkServer::new(coordinator.clone());
        let server = Server::builder().add_service(service);
        tokio::spawn(server.serve_with_incoming(UnboundedReceiverStream::new(connector)));
        Self { coordinator, bus: Arc::default(), project: Project::new(), channel, published: 0 }
    }

    /// A world whose coordinator leases `node` once, and the message that says so.
    pub async fn with_lease(lease_ms: u64) -> Self {
        let mut world = Self::new();
        world.coordinator.script().claims.push_back(Ok(lease(7, lease_ms)));
        world.hint().await;
        world
    }

    /// Says on the bus that the node is ready.
    pub async fn hint(&mut self) {
        self.published += 1;
        let message = Message {
            id: self.published.to_string(),
            subject: subject::work("default", "tests", "brief"),
            payload: Arc::from([]),
        };
        self.bus.publish(vec![message]).await.unwrap();
    }

    /// Starts a worker whose sessions run `script`.
    pub fn work(&self, script: &str) -> Worker {
        self.work_at_once(1, script)
    }

    pub fn work_at_once(&self, concurrency: usize, script: &str) -> Worker {
        self.start(
            concurrency,
            HarnessSpec::Command {
                program: "sh".to_owned(),
                args: vec!["-c".to_owned(), script.to_owned()],
                model: None,
                base: "/".into(),
            },
            "/nowhere".as_ref(),
        )
    }

    pub fn start(&self, concurrency: usize, harness: HarnessSpec, jq: &Path) -> Worker {
        let meet = self.project.root().to_str().unwrap().to_owned();
        let variables = [("MEET", meet), ("PATH", std::env::var("PATH").unwrap())];
        let limits = Limits { grace: Duration::from_millis(500), ..Limits::default() };
        let options = Options {
            name: "worker-1".to_owned(),
            concurrency,
            render: RenderOptions {
                limits,
                scratch: self.project.path("tasks"),
                environment: variables.map(|(name, value)| (name.to_owned(), value)).into(),
            },
            harnesses: Harnesses {
                default: Some(harness),
                nodes: BTreeMap::new(),
                jq: JqCommand { executable: jq.to_owned(), args: Vec::new() },
            },
        };
        Worker::start(self.channel.clone(), self.bus.clone(), options)
    }

    /// Waits until what the coordinator has seen satisfies `condition`.
    pub async fn until(&self, what: &str, condition: impl Fn(&Seen) -> bool) -> Seen {
        wait(what, async || {
            let seen = self.coordinator.seen();
            if condition(&seen) { Ok(seen) } else { Err(seen) }
        })
        .await
    }

    /// Waits until so many sessions that [`WAITS`] have begun.
    pub async fn until_started(&self, sessions: usize) {
        wait("sessions to begin", async || {
            let text = fs::read_to_string(self.project.path("started")).unwrap_or_default();
            if text.lines().count() >= sessions { Ok(()) } else { Err(text) }
        })
        .await;
    }

    /// Waits until no session's folder is left, and asserts that no process is.
    pub async fn until_no_session(&self) {
        wait("task folders to go", async || match self.folders() {
            0 => Ok(()),
            left => Err(left),
        })
        .await;
        self.assert_nothing_left();
    }

    /// Asserts that neither processes nor folders of sessions are left.
    pub fn assert_nothing_left(&self) {
        let mark = format!("PROSE_TASK={}", self.project.path("tasks").display());
        let marked = fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let environ = fs::read(entry.ok()?.path().join("environ")).ok()?;
            let environ = String::from_utf8_lossy(&environ).into_owned();
            environ.contains(&mark).then_some(environ)
        });
        assert_eq!(marked.collect::<Vec<_>>(), Vec::<String>::new());
        assert_eq!(self.folders(), 0);
    }

    fn folders(&self) -> usize {
        fs::read_dir(self.project.path("tasks")).map_or(0, Iterator::count)
    }

    pub fn open_gate(&self) {
        self.project.write("gate", "");
    }

    /// Whether the bus has a message that nobody works on.
    pub async fn is_work_waiting(&self) -> bool {
        let mut puller = self.bus.pull("default").await.unwrap();
        tokio::select! {
            biased;
            delivery = puller.next() => delivery.is_ok(),
            () = std::future::ready(()) => false,
        }
    }

    /// Lets the worker finish, and asserts that it leaves nothing, unanswered messages included.
    pub async fn end(&self, worker: Worker) -> Seen {
        worker.drain(LIMIT).await;
        self.assert_nothing_left();
        assert!(!self.is_work_waiting().await);
        self.coordinator.seen()
    }
}

pub async fn wait<T, S: Debug>(what: &str, condition: impl AsyncFnMut() -> Result<T, S>) -> T {
    prose_testkit::wait_for(what, LIMIT, condition).await
}

pub fn lease(fence: u64, lease_ms: u64) -> v1::Lease {
    let contract = Contract {
        version: 1,
        node: "brief".to_owned(),
        kind: NodeKind::Responsibility,
        contract_fingerprint: Fingerprint::of(b"x"),
        path: "brief.prose.md".to_owned(),
        text: "# Brief\n".to_owned(),
        goal: None,
        fields: Vec::new(),
        facets: Vec::new(),
        needs: Vec::new(),
        wake_modes: Vec::new(),
        cadences: Vec::new(),
        execution: true,
        routes: Vec::new(),
        tools: Vec::new(),
        skills: Vec::new(),
        environment: vec!["MEET".to_owned()],
        runtime: BTreeMap::new(),
        functions: BTreeMap::new(),
    };
    v1::Lease {
        reactor: "tests".to_owned(),
        node: "brief".to_owned(),
        fence,
        lease_ms,
        contract: serde_json::to_vec(&contract).unwrap().into(),
        wake_source: "external".to_owned(),
        surprise: "external".to_owned(),
        as_of: "2026-01-02T03:04:05.678Z".to_owned(),
        attempt: 1,
        ..v1::Lease::default()
    }
}

/// The file `truth.json` of a rendered commit.
pub fn truth(commit: &v1::CommitRequest) -> String {
    match &commit.outcome {
        Some(Outcome::Rendered(rendered)) => {
            String::from_utf8(rendered.files.as_ref().unwrap().files["truth.json"].to_vec())
                .unwrap()
        }
        other => panic!("{other:?}"),
    }
}

pub fn infrastructure(commit: &v1::CommitRequest) -> &str {
    match &commit.outcome {
        Some(Outcome::Infrastructure(failure)) => &failure.reason,
        other => panic!("{other:?}"),
    }
}
