//! The operations one by one, on graphs small enough to follow by hand.

use prose_ir::{ATOMIC, Fingerprint};
use prose_reconciler::{
    Arrival, Claim, CommitError, Condition, Cost, CutKind, EventOutcome, Failure, FailureClass,
    Graph, Input, InputRef, Lease, NodeIx, NodeSpec, Outcome, Policy, Reactor, Refused, Role,
    Status, Surprise, Waiting,
};
use std::sync::Arc;

use crate::world::{Ledger, published, topology};

const POLICY: Policy = Policy {
    lease_ms: 100,
    attempts_max: 3,
    backoff_ms: 10,
    backoff_max_ms: 40,
    patience_ms: 1_000,
};

fn spec(name: &str, role: Role, inputs: &[(&str, &str)]) -> NodeSpec {
    let input = |(producer, facet): &(&str, &str)| Input {
        source: Arc::new(InputRef {
            need: (*facet).to_owned(),
            producer: (*producer).to_owned(),
            facet: (*facet).to_owned(),
        }),
        wakes: true,
        optional: false,
    };
    NodeSpec {
        name: name.into(),
        contract: Fingerprint::of(name.as_bytes()),
        role,
        inputs: inputs.iter().map(input).collect(),
    }
}

struct World {
    core: Reactor,
    ledger: Ledger,
    now: i64,
    epoch: u64,
}

impl World {
    fn new(specs: Vec<NodeSpec>) -> Self {
        let (core, ledger) = (Reactor::empty(POLICY), Ledger::default());
        let mut world = Self { core, ledger, now: 0, epoch: 0 };
        world.mount(specs);
        world
    }

    fn mount(&mut self, specs: Vec<NodeSpec>) {
        self.epoch += 1;
        let graph = Arc::new(Graph::new(specs).unwrap());
        let truth = topology(self.epoch);
        self.core.mount(&mut self.ledger, self.now, graph, self.epoch, truth, Vec::new());
    }

    fn ix(&self, name: &str) -> NodeIx {
        self.core.graph().find(name).unwrap()
    }

    fn ingest(&mut self, gateway: &str, truth: u64) -> EventOutcome {
        self.ingest_all(&[(gateway, truth)]).remove(0)
    }

    fn ingest_all(&mut self, events: &[(&str, u64)]) -> Vec<EventOutcome> {
        let arrival = |(gateway, truth): &(&str, u64)| Arrival {
            node: self.ix(gateway),
            event: Fingerprint::of(truth.to_string().as_bytes()),
            truth: Some(Ok(published(*truth))),
        };
        let arrivals = events.iter().map(arrival).collect();
        self.core.ingest(&mut self.ledger, self.now, arrivals)
    }

    fn claim(&mut self, name: &str) -> Option<Lease> {
        let v = self.ix(name);
        match self.core.claim(&mut self.ledger, self.now, v, "w") {
            Claim::Leased(lease) => Some(*lease),
            _ => None,
        }
    }

    fn commit(&mut self, name: &str, lease: &Lease, outcome: Outcome) -> Result<(), CommitError> {
        let v = self.ix(name);
        self.core.commit(&mut self.ledger, self.now, v, lease.fence, outcome).map(drop)
    }

    fn render(&mut self, name: &str, truth: u64) {
        let lease = self.claim(name).unwrap_or_else(|| panic!("{name} cannot be claimed"));
        self.commit(name, &lease, rendered(truth)).unwrap();
    }

    fn statuses(&self, name: &str) -> Vec<Status> {
        let of = self.ledger.entries.iter().filter(|(place, ..)| *place.node == *name);
        of.map(|(_, draft, _)| draft.status).collect()
    }

    fn is_ready(&self, name: &str) -> bool {
        self.core.ready().any(|v| v == self.ix(name))
    }
}

fn rendered(truth: u64) -> Outcome {
    Outcome::Rendered { truth: published(truth), diff: None, cost: Cost::default() }
}

fn failed() -> Outcome {
    Outcome::Failed { failure: Failure::new(FailureClass::Render, "no"), cost: Cost::default() }
}

fn crashed(fresh: u64) -> Outcome {
    let cost = Cost { fresh, ..Cost::default() };
    Outcome::Infrastructure { reason: "crash".into(), cost }
}

/// gate -> view (all), and view -> brief (only `high`), with a truth everywhere.
fn settled() -> World {
    let mut world = World::new(vec![
        spec("gate", Role::Passthrough, &[]),
        spec("view", Role::Rendered, &[("gate", ATOMIC)]),
        spec("brief", Role::Rendered, &[("view", "high")]),
    ]);
    world.ingest("gate", 1);
    world.render("view", 10);
    world.render("brief", 20);
    assert!(world.core.is_quiet());
    world
}

#[test]
fn however_many_wakes_come_during_a_render_one_follows() {
    let mut world = settled();
    world.ingest("gate", 2);
    let lease = world.claim("view").unwrap();
    for truth in 3..40 {
        world.ingest("gate", truth);
    }
    assert!(world.claim("view").is_none(), "a node in flight is nobody else's");
    world.commit("view", &lease, rendered(11)).unwrap();
    world.render("view", 12);
    assert_eq!(world.statuses("view"), [Status::Rendered; 3]);
    assert!(!world.is_ready("view"), "the one follow-up took every wake");
}

#[test]
fn a_reader_sleeps_while_only_another_facet_moves() {
    let mut world = settled();
    world.ingest("gate", 2);
    world.render("view", 11); // 10 / 4 == 11 / 4: `low` moves, `high` does not
    assert!(world.core.is_quiet());
    assert_eq!(world.statuses("brief"), [Status::Rendered]);
}

#[test]
fn an_unmoved_key_is_skipped_for_free_and_propagates_nothing() {
    let mut world = settled();
    world.ingest("gate", 2);
    world.ingest("gate", 1); // back again before anybody has rendered
    assert!(world.core.is_quiet());
    assert_eq!(world.statuses("view"), [Status::Rendered, Status::Skipped]);
    let (_, skip, _) = world.ledger.entries.last().unwrap();
    assert_eq!((skip.cost.fresh, skip.moved.len()), (0, 0));
    assert_eq!(skip.surprise, Surprise::Input);
    assert_eq!(world.statuses("brief"), [Status::Rendered]);
}

#[test]
fn a_stale_fence_changes_nothing() {
    let mut world = settled();
    world.ingest("gate", 2);
    let dead = world.claim("view").unwrap();
    world.now += POLICY.lease_ms;
    assert!(world.core.advance(&mut world.ledger, world.now));
    world.now = world.core.next_deadline().unwrap();
    assert!(world.core.advance(&mut world.ledger, world.now));
    let alive = world.claim("view").unwrap();
    assert!(alive.fence > dead.fence);
    assert_eq!(alive.attempt, 2);
    let before: Vec<_> = world.core.states().map(|(_, s)| s.clone()).collect();
    let late = world.commit("view", &dead, rendered(99));
    assert_eq!(late, Err(CommitError::StaleFence { fence: dead.fence }));
    let v = world.ix("view");
    assert_eq!(world.core.heartbeat(world.now, v, dead.fence), None, "the dead worker is told");
    let after: Vec<_> = world.core.states().map(|(_, s)| s.clone()).collect();
    assert_eq!(before, after);
    world.commit("view", &alive, rendered(11)).unwrap();
}

#[test]
fn a_heartbeat_keeps_the_lease() {
    let mut world = settled();
    world.ingest("gate", 2);
    let lease = world.claim("view").unwrap();
    let v = world.ix("view");
    for _ in 0..5 {
        world.now += POLICY.lease_ms - 1;
        assert!(world.core.heartbeat(world.now, v, lease.fence).is_some());
        assert!(!world.core.advance(&mut world.ledger, world.now));
    }
    world.commit("view", &lease, rendered(11)).unwrap();
}

#[test]
fn infrastructure_is_tried_again_with_growing_waits_and_then_fails_for_good() {
    let mut world = settled();
    world.ingest("gate", 2);
    let mut waits = Vec::new();
    for attempt in 1..=3 {
        let lease = world.claim("view").unwrap();
        assert_eq!(lease.attempt, attempt);
        world.commit("view", &lease, crashed(5)).unwrap();
        if attempt < 3 {
            assert!(world.claim("view").is_none(), "a retry waits for its time");
            assert!(!world.core.is_quiet());
            let due = world.core.next_deadline().unwrap();
            waits.push(due - world.now);
            world.now = due;
            world.core.advance(&mut world.ledger, world.now);
        }
    }
    assert!(waits[0] < waits[1], "{waits:?}");
    assert!(world.core.is_quiet());
    let (_, receipt, _) = world.ledger.entries.last().unwrap();
    assert_eq!(receipt.status, Status::Failed);
    assert_eq!(receipt.failure.as_ref().unwrap().class, FailureClass::Infrastructure);
    assert_eq!(receipt.cost.fresh, 15, "every attempt is paid for on a receipt");
    assert_eq!(receipt.surprise, Surprise::Input, "the surprise is the change, not the retry");
}

#[test]
fn what_failed_attempts_spent_is_charged_even_when_the_last_one_ends_without_a_word() {
    let spent = |world: &mut World| {
        world.ingest("gate", 2);
        let lease = world.claim("view").unwrap();
        let cost = Cost { harness: Some("h".into()), fresh: 7, ..Cost::default() };
        let crash = Outcome::Infrastructure { reason: "crash".into(), cost };
        world.commit("view", &lease, crash).unwrap();
    };
    let assert_charged = |world: &World| {
        let (_, receipt, _) = world.ledger.entries.last().unwrap();
        assert_eq!(receipt.cost.fresh, 7);
        assert_eq!(receipt.cost.harness.as_deref(), Some("h"), "tokens without a spender");
    };
    // Two leases expire and nothing more is known of them.
    let mut world = settled();
    spent(&mut world);
    for _ in 0..2 {
        world.now = world.core.next_deadline().unwrap();
        world.core.advance(&mut world.ledger, world.now);
        assert!(world.claim("view").is_some());
        world.now = world.core.next_deadline().unwrap();
        world.core.advance(&mut world.ledger, world.now);
    }
    assert_charged(&world);
    // An operator gives up.
    let mut world = settled();
    spent(&mut world);
    let v = world.ix("view");
    world.core.cancel(&mut world.ledger, world.now, v).unwrap();
    assert_charged(&world);
    // A new contract discards the wait; the render under it pays.
    let mut world = settled();
    spent(&mut world);
    let mut specs: Vec<NodeSpec> =
        world.core.graph().indices().map(|v| world.core.graph().spec(v).clone()).collect();
    specs[1].contract = Fingerprint::of(b"another");
    world.mount(specs);
    world.render("view", 11);
    assert_charged(&world);
}

#[test]
fn a_node_that_waits_for_a_retry_does_not_hold_up_its_readers() {
    let mut world = World::new(vec![
        spec("gate", Role::Passthrough, &[]),
        spec("slow", Role::Rendered, &[("gate", ATOMIC)]),
        spec("both", Role::Rendered, &[("gate", ATOMIC), ("slow", ATOMIC)]),
    ]);
    world.ingest("gate", 1);
    world.render("slow", 10);
    world.render("both", 20);
    world.ingest("gate", 2);
    let lease = world.claim("slow").unwrap();
    assert!(!world.is_ready("both"), "the diamond waits while its other path renders");
    world.commit("slow", &lease, crashed(0)).unwrap();
    assert!(world.is_ready("both"), "but not for a broken harness");
}

/// While a node waits for another attempt its prior truth stands. A wake that an ancestor causes
/// late, at a wave that passed meanwhile, is answered by the retry and not by a render of its own.
#[test]
fn what_comes_late_while_a_retry_waits_belongs_to_the_retry() {
    let mut world = World::new(vec![
        spec("gate", Role::Passthrough, &[]),
        spec("slow", Role::Rendered, &[("gate", ATOMIC)]),
        spec("other", Role::Passthrough, &[]),
        spec("both", Role::Rendered, &[("other", ATOMIC), ("slow", ATOMIC)]),
    ]);
    world.ingest("gate", 1);
    world.ingest("other", 1);
    world.render("slow", 10);
    world.render("both", 20);
    world.ingest("other", 2);
    let lease = world.claim("both").unwrap();
    world.ingest("gate", 2); // `slow` owes this wave until after the retry
    world.commit("both", &lease, crashed(0)).unwrap();
    world.now = world.core.next_deadline().unwrap();
    world.core.advance(&mut world.ledger, world.now);
    let retry = world.core.wave();
    world.render("slow", 11);
    let lease = world.claim("both").unwrap();
    assert_eq!((lease.basis.waves.first, lease.basis.through), (retry, retry));
}

#[test]
fn a_failure_leaves_everything_as_it_was_until_it_is_retried() {
    let mut world = settled();
    let v = world.ix("view");
    let before = world.core.node(v).current().cloned();
    world.ingest("gate", 2);
    let lease = world.claim("view").unwrap();
    world.commit("view", &lease, failed()).unwrap();
    assert_eq!(world.core.node(v).current().cloned(), before);
    assert!(world.core.is_quiet(), "no automatic retry of a semantic failure");
    world.core.retry(&mut world.ledger, 0, v).unwrap();
    world.render("view", 40);
    assert_eq!(world.statuses("view"), [Status::Rendered, Status::Failed, Status::Rendered]);
    let (_, receipt, _) = world.ledger.entries.last().unwrap();
    assert_eq!(receipt.surprise, Surprise::Retry);
    assert_eq!(world.core.retry(&mut world.ledger, 0, v), Err(Refused::NotFailed));
    assert!(world.is_ready("brief"));
}

#[test]
fn after_a_failure_an_unmoved_key_renders_all_the_same() {
    let mut world = settled();
    world.ingest("gate", 2);
    let lease = world.claim("view").unwrap();
    world.commit("view", &lease, failed()).unwrap();
    world.ingest("gate", 1); // the key of the last good render
    assert!(world.is_ready("view"));
}

#[test]
fn force_renders_what_has_not_moved_and_cancel_stops_it() {
    let mut world = settled();
    let v = world.ix("view");
    world.core.force(&mut world.ledger, 0, v).unwrap();
    let lease = world.claim("view").unwrap();
    world.core.cancel(&mut world.ledger, 0, v).unwrap();
    assert_eq!(world.core.heartbeat(0, v, lease.fence), None);
    assert!(world.commit("view", &lease, rendered(11)).is_err());
    assert_eq!(world.core.cancel(&mut world.ledger, 0, v), Err(Refused::NotRunning));
    let (_, receipt, _) = world.ledger.entries.last().unwrap();
    assert_eq!(receipt.failure.as_ref().unwrap().class, FailureClass::Cancelled);
    let gate = world.ix("gate");
    assert_eq!(world.core.force(&mut world.ledger, 0, gate), Err(Refused::Passthrough));
}

#[test]
fn a_missing_input_is_waited_for_without_being_dirty() {
    let mut world = World::new(vec![
        spec("gate", Role::Passthrough, &[]),
        spec("view", Role::Rendered, &[("gate", ATOMIC)]),
    ]);
    let v = world.ix("view");
    let Condition::Waiting(Waiting::Inputs(inputs)) = world.core.condition(v) else {
        panic!("{:?}", world.core.condition(v))
    };
    assert_eq!(inputs[0].producer, "gate");
    assert!(world.core.is_quiet() && world.core.next_deadline().is_none());
    world.ingest("gate", 1);
    world.render("view", 10);
}

#[test]
fn a_batch_wakes_each_reader_once_and_gives_each_event_a_receipt() {
    let mut world = settled();
    let outcomes = world.ingest_all(&[("gate", 2), ("gate", 2), ("gate", 3), ("gate", 1)]);
    let statuses: Vec<_> = outcomes
        .iter()
        .map(|outcome| match outcome {
            EventOutcome::Decided { status, .. } => *status,
            EventOutcome::Queued { .. } => panic!("a passthrough gateway queues nothing"),
        })
        .collect();
    use Status::{Rendered, Skipped};
    assert_eq!(statuses, [Rendered, Skipped, Rendered, Rendered]);
    assert!(world.core.is_quiet(), "over the whole batch nothing moved, so nobody is woken");
}

#[test]
fn a_rendering_gateway_reads_every_event_once_and_in_order() {
    let mut world = World::new(vec![
        spec("inbox", Role::External, &[]),
        spec("view", Role::Rendered, &[("inbox", ATOMIC)]),
    ]);
    assert!(!world.is_ready("inbox"), "without an event there is nothing to render");
    world.ingest_all(&[("inbox", 1), ("inbox", 1)]);
    let lease = world.claim("inbox").unwrap();
    assert_eq!(lease.events, (0, 2), "equal events are different events");
    world.ingest("inbox", 2);
    world.commit("inbox", &lease, failed()).unwrap();
    let lease = world.claim("inbox").unwrap();
    assert_eq!(lease.events, (0, 3), "a failed render has consumed nothing");
    world.commit("inbox", &lease, rendered(5)).unwrap();
    world.ingest("inbox", 1);
    let lease = world.claim("inbox").unwrap();
    assert_eq!(lease.events, (3, 4));
}

#[test]
fn events_are_of_their_wave_like_everything_else() {
    let mut world = World::new(vec![
        spec("gate", Role::Passthrough, &[]),
        spec("slow", Role::Rendered, &[("gate", ATOMIC)]),
        spec("desk", Role::External, &[("slow", ATOMIC)]),
    ]);
    world.ingest("gate", 1);
    world.render("slow", 10);
    world.ingest("gate", 2); // `slow` is unsettled from here on
    world.ingest("desk", 7); // later than that
    let lease = world.claim("desk").unwrap();
    assert_eq!(lease.events, (0, 0), "the event is later than the moment that is rendered");
    world.commit("desk", &lease, rendered(20)).unwrap();
    assert!(world.claim("desk").is_none(), "and waits until that moment is known");
    world.render("slow", 11);
    let lease = world.claim("desk").unwrap();
    assert_eq!(lease.events, (0, 1));
    let before = lease.basis.event.clone();
    world.commit("desk", &lease, rendered(21)).unwrap();
    assert!(world.core.is_quiet());
    // The fingerprint goes on from what was read, whatever else wakes the node.
    world.ingest("gate", 3);
    world.render("slow", 12);
    let lease = world.claim("desk").unwrap();
    assert_eq!((lease.events, &lease.basis.event), ((1, 1), &before));
}

#[test]
fn a_new_contract_discards_the_render_in_flight() {
    let mut world = settled();
    world.ingest("gate", 2);
    let lease = world.claim("view").unwrap();
    let mut view = spec("view", Role::Rendered, &[("gate", ATOMIC)]);
    view.contract = Fingerprint::of(b"view, second edition");
    let brief = spec("brief", Role::Rendered, &[("view", "high")]);
    world.mount(vec![spec("gate", Role::Passthrough, &[]), view, brief]);
    assert!(world.commit("view", &lease, rendered(11)).is_err());
    world.render("view", 12);
    let (_, receipt, _) = world.ledger.entries.last().unwrap();
    assert_eq!(receipt.surprise, Surprise::Contract);
    assert_eq!(receipt.wake_refs.len(), 1, "the topology's receipt");
}

#[test]
fn a_retired_node_goes_on_with_its_chain_when_it_returns() {
    let mut world = settled();
    let specs = |with_brief: bool| {
        let mut specs = vec![
            spec("gate", Role::Passthrough, &[]),
            spec("view", Role::Rendered, &[("gate", ATOMIC)]),
        ];
        specs.extend(with_brief.then(|| spec("brief", Role::Rendered, &[("view", "high")])));
        specs
    };
    world.mount(specs(false));
    assert!(world.core.state("brief").unwrap().retired);
    world.mount(specs(true));
    // The ledger checks that the chain goes on; nothing that it reads has moved meanwhile.
    assert_eq!(world.statuses("brief"), [Status::Rendered, Status::Skipped]);
    assert!(!world.core.state("brief").unwrap().retired);
}

#[test]
fn patience_ends_in_a_mixture_that_says_so() {
    // `left` and `right` coalesce different waves, so that `both` finds no moment at which both
    // are known.
    let mut world = World::new(vec![
        spec("a", Role::Passthrough, &[]),
        spec("b", Role::Passthrough, &[]),
        spec("left", Role::Rendered, &[("a", ATOMIC)]),
        spec("right", Role::Rendered, &[("b", ATOMIC)]),
        spec("both", Role::Rendered, &[("left", ATOMIC), ("right", ATOMIC)]),
    ]);
    world.ingest("a", 1);
    world.ingest("b", 1);
    world.render("left", 10);
    world.render("right", 10);
    world.render("both", 10);
    let first = world.core.wave() + 1;
    world.ingest("a", 2); // first: pending at `left`
    world.ingest("b", 2); // first + 1
    let lease = world.claim("right").unwrap();
    world.ingest("b", 3); // first + 2: pending at `right` while it renders
    world.ingest("a", 3); // first + 3
    world.render("left", 30); // its waves first..first + 2 are one render: a gap
    world.commit("right", &lease, rendered(20)).unwrap(); // known at first + 1, in the gap

    let v = world.ix("both");
    let Condition::Waiting(Waiting::Gaps { wave, ancestors, until }) = world.core.condition(v)
    else {
        panic!("{:?}", world.core.condition(v))
    };
    assert_eq!((wave, ancestors.len(), until), (first + 1, 2, POLICY.patience_ms));
    world.now = world.core.next_deadline().unwrap();
    world.core.advance(&mut world.ledger, world.now);
    let lease = world.claim("both").unwrap();
    assert_eq!(lease.basis.cut, CutKind::Mixed);
    assert_eq!(lease.basis.busy.len(), 2, "{:?}", lease.basis.busy);
    world.commit("both", &lease, rendered(50)).unwrap();
    world.render("right", 40);
    let lease = world.claim("both").unwrap();
    assert_eq!(lease.basis.cut, CutKind::Exact, "what comes after is of one moment again");
}
