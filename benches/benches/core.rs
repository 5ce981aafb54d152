//! What a wake costs the pure core, in Ed25519 signatures of the same run.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use prose_benches::{ratio, report, signature, time};
use prose_ir::{ATOMIC, Address, Fingerprint};
use prose_reconciler::{
    Arrival, Claim, Cost, Draft, Graph, Input, InputRef, NodeIx, NodeSpec, Outcome, Place, Policy,
    Published, Reactor, Role, Seal, TopologyTruth,
};

/// Numbers receipts instead of signing them: the core alone is timed.
struct Count(u64);

impl Seal for Count {
    fn seal(&mut self, _: Place, _: Draft) -> Address {
        self.0 += 1;
        // An address is a hash; making one up from a number is cheaper than anything real.
        ADDRESSES.with(|a| a[self.0 as usize % a.len()].clone())
    }
}

thread_local! {
    static ADDRESSES: Vec<Address> =
        (0..64u64).map(|i| Address::of(&i.to_be_bytes())).collect();
}

fn spec(name: String, role: Role, producers: &[String], facet: &str) -> NodeSpec {
    let input = |producer: &String| Input {
        source: Arc::new(InputRef {
            need: producer.clone(),
            producer: producer.clone(),
            facet: facet.to_owned(),
        }),
        wakes: true,
        optional: false,
    };
    NodeSpec {
        contract: Fingerprint::of(name.as_bytes()),
        name: name.into(),
        role,
        inputs: producers.iter().map(input).collect(),
    }
}

fn truth(text: &str) -> Published {
    let token = Fingerprint::of(text.as_bytes());
    let facets = [(ATOMIC.to_owned(), token.clone()), ("only".to_owned(), token)];
    Published { tree: Address::of(text.as_bytes()), fingerprints: BTreeMap::from(facets) }
}

struct World {
    reactor: Reactor,
    seal: Count,
    next: u64,
}

impl World {
    fn new(specs: Vec<NodeSpec>) -> Self {
        let graph = Arc::new(Graph::new(specs).unwrap_or_else(|e| panic!("{e}")));
        let mut reactor = Reactor::empty(Policy::default());
        let mut seal = Count(0);
        let topology = TopologyTruth { tree: Address::of(b"t"), whole: Fingerprint::of(b"t") };
        reactor.mount(&mut seal, 0, graph, 1, topology, Vec::new());
        Self { reactor, seal, next: 0 }
    }

    fn ingest(&mut self, gateway: &str, event: &str, text: &str) {
        let node = self.reactor.graph().find(gateway).unwrap_or_else(|| panic!("no {gateway}"));
        let event = Fingerprint::of(event.as_bytes());
        let arrival = Arrival { node, event, truth: Some(Ok(truth(text))) };
        self.reactor.ingest(&mut self.seal, 0, vec![arrival]);
        self.reactor.take_effects();
    }

    /// Renders until nothing is ready; each truth is a constant of its node.
    fn settle(&mut self) {
        loop {
            let ready = self.reactor.ready().next();
            let Some(v) = ready else { break };
            let Claim::Leased(lease) = self.reactor.claim(&mut self.seal, 0, v, "w") else {
                continue;
            };
            let name = self.reactor.graph().spec(v).name.clone();
            let outcome =
                Outcome::Rendered { truth: truth(&name), diff: None, cost: Cost::default() };
            let _ = self.reactor.commit(&mut self.seal, 0, v, lease.fence, outcome);
        }
        self.reactor.take_effects();
    }
}

/// A thousand nodes: ten gateways, then ten wide layers, each node reading two of the layer above.
fn layered() -> World {
    let gate = |i: usize| format!("gate-{i}");
    let name = |layer: usize, i: usize| match layer {
        0 => gate(i % 10),
        _ => format!("node-{layer}-{i}"),
    };
    let mut specs: Vec<_> =
        (0..10).map(|i| spec(gate(i), Role::Passthrough, &[], ATOMIC)).collect();
    for layer in 1..=9 {
        for i in 0..110 {
            let producers = [name(layer - 1, i), name(layer - 1, (i + 1) % 110)];
            specs.push(spec(name(layer, i), Role::Rendered, &producers, ATOMIC));
        }
    }
    let mut world = World::new(specs);
    for i in 0..10 {
        world.ingest(&gate(i), "first", "first");
    }
    world.settle();
    world
}

fn fan_out(facet: &str) -> World {
    let gate = ["gate".to_owned()];
    let mut specs = vec![spec(gate[0].clone(), Role::Passthrough, &[], ATOMIC)];
    specs.extend((0..1_000).map(|i| spec(format!("node-{i}"), Role::Rendered, &gate, facet)));
    let mut world = World::new(specs);
    world.ingest("gate", "first", "first");
    world.settle();
    world
}

fn main() {
    let unit = signature();
    println!("one Ed25519 signature: {unit:.2?}\n");

    let mut world = layered();
    let unmoved = time(2_000, || {
        world.next += 1;
        let event = format!("event {}", world.next % 7);
        world.ingest("gate-3", &event, "first");
    });
    let r = ratio(unmoved, unit);
    report("an unmoved event on 1,000 nodes", unmoved, r, "signatures", "< 0.25", r < 0.25);

    // The gateway moves away, which makes readers ready, and back, which the readers find unmoved:
    // mark, settle, and a skipped receipt for each of them.
    let (_, back) = away_and_back(&mut world, "gate-3", 200);
    let graph = world.reactor.graph().clone();
    let reads = |v: &NodeIx| graph.spec(*v).inputs.iter().any(|i| i.source.producer == "gate-3");
    let readers = graph.indices().filter(reads).count() as u32;
    let each = ratio(back, unit) / f64::from(readers + 1);
    let what = format!("an unmoved wake of {readers} readers among 1,000 nodes");
    report(&what, back, each, "signatures each", "< 0.25", each < 0.25);

    let mut wide = fan_out(ATOMIC);
    let (away, back) = away_and_back(&mut wide, "gate", 20);
    let r = ratio(away, unit);
    report(
        "a moved event: 1,000 subscribers made ready",
        away,
        r,
        "signatures",
        "< 100",
        r < 100.0,
    );
    let r = ratio(back, unit);
    report("and back: 1,000 subscribers skipped", back, r, "signatures", "< 100", r < 100.0);
}

/// The median times of an event that moves a gateway, and of one that moves it back.
fn away_and_back(world: &mut World, gateway: &str, rounds: usize) -> (Duration, Duration) {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (way, text) in ["away", "first"].into_iter().enumerate() {
            world.next += 1;
            let event = format!("event {}", world.next);
            let start = Instant::now();
            world.ingest(gateway, &event, text);
            times[way].push(start.elapsed());
        }
    }
    times.iter_mut().for_each(|t| t.sort());
    (times[0][rounds / 2], times[1][rounds / 2])
}
