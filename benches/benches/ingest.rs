//! The skip path, durable on SQLite with full sync: an event that moves nothing costs a signed
//! receipt and its share of a commit.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use prose_benches::{ratio, report, report_ratio, signature};
use prose_bus::InProcessBus;
use prose_compiler::{Host, compile_sources};
use prose_engine::{Engine, IncomingEvent, Options, SystemClock};
use prose_ledger::Signer;
use prose_reconciler::Policy;
use prose_store::SqliteStore;

const GATEWAY: &str = "---
name: feed
kind: gateway
---

### Maintains

- `price`: the latest price
- `fetched_at`: immaterial

### Continuity

- external-driven
";

const READER: &str = "---
name: reader
kind: responsibility
---

### Requires

- `price`: the latest price

### Maintains

- `copy`: the price
";

const BATCH: usize = 100;

/// Events that differ only in what does not matter.
fn events(from: u64, count: usize) -> Vec<IncomingEvent> {
    (from..from + count as u64)
        .map(|n| IncomingEvent {
            gateway: "feed".into(),
            body: format!(r#"{{"price":12.5,"fetched_at":"2026-01-01T00:00:{n}"}}"#).into_bytes(),
            key: format!("feed.jsonl:{n}"),
        })
        .collect()
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    // Under the build folder, which lies on a disk; the temporary folder may be memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let store = Arc::new(SqliteStore::open(folder.path())?);
    let engine = Arc::new(Engine::new(
        store,
        Options {
            policy: Policy::default(),
            signer: Signer::ed25519(&[7; 32]),
            keys: Vec::new(),
            clock: Arc::new(SystemClock),
        },
    ));
    // The relay is part of what an event costs.
    let relay = engine.clone();
    tokio::spawn(async move { relay.run_relay(Arc::new(InProcessBus::default())).await });
    let sources: BTreeMap<String, Vec<u8>> = [
        ("feed.prose.md".to_owned(), GATEWAY.into()),
        ("reader.prose.md".to_owned(), READER.into()),
    ]
    .into();
    let compiled = compile_sources(&sources, &Host::trusting());
    let bundle = compiled.bundle.ok_or_else(|| format!("{:?}", compiled.diagnostics))?;
    engine.mount("bench", bundle).await?;
    let mut next = 0;
    engine.ingest("bench", events(next, 1)).await?;
    next += 1;

    let mut singles = Vec::new();
    for _ in 0..400 {
        let start = Instant::now();
        engine.ingest("bench", events(next, 1)).await?;
        singles.push(start.elapsed());
        next += 1;
    }
    let single = median(singles);
    report("one event, one durable commit", single, 1.0, "", "", true);

    let mut early = Vec::new();
    let mut late = Vec::new();
    let last = 200_000;
    while next < last {
        let start = Instant::now();
        engine.ingest("bench", events(next, BATCH)).await?;
        let took = start.elapsed() / BATCH as u32;
        next += BATCH as u64;
        match next {
            1_000..=11_000 => early.push(took),
            190_000.. => late.push(took),
            _ => {}
        }
    }
    let (early, late) = (median(early), median(late));
    let rate = ratio(single, early);
    report(
        "an event in a batch of 100, at 1,000 to 11,000",
        early,
        rate,
        "x the rate",
        ">= 20",
        rate >= 20.0,
    );
    report("its cost in signatures", early, ratio(early, signature()), "signatures", "", true);
    let growth = ratio(late, early);
    report(
        "an event in a batch of 100, at 190,000 to 200,000",
        late,
        growth,
        "x the early",
        "<= 1.2",
        growth <= 1.2,
    );
    let spread = std::fs::metadata(folder.path().join("state.sqlite"))?.len() as f64 / last as f64;
    report_ratio("bytes on disk an event", spread, "bytes", "", true);
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run())
}
