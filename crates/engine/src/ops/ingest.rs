//! Ingest: external events, under one wave, all or none.

use std::collections::BTreeMap;

use prose_ir::{Address, Fingerprint};
use prose_reconciler::{
    self as core, Arrival, Failure, FailureClass, NodeIx, Published, Role, Status,
};
use prose_store::{EventRow, NewDelivery};
use prose_truth::{Limits, admit, files_of, gate, json};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    EVENT_BYTES_MAX, EVENTS_MAX, Engine, Error, EventProblem, operation::Operation,
    program::NodeProgram,
};

/// One external event.
#[derive(Debug, Clone)]
pub struct IncomingEvent {
    /// The node that takes it.
    pub gateway: String,
    /// JSON text.
    pub body: Vec<u8>,
    /// Idempotency key, unique per gateway.
    pub key: String,
}

/// What became of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventOutcome {
    /// The receipt, where the gateway decided at once.
    pub receipt: Option<Address>,
    /// The decision.
    pub status: EventStatus,
    /// Whether the key was seen before; then this is the first outcome.
    #[serde(skip)]
    pub repeated: bool,
}

/// What a gateway decided about an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventStatus {
    /// It is the gateway's truth now.
    Rendered,
    /// Nothing material moved.
    Skipped,
    /// It was refused; the prior truth stands.
    Failed,
    /// It waits for a render.
    Queued,
}

struct Parsed {
    event: Value,
    canonical: Vec<u8>,
    fingerprint: Fingerprint,
    /// The key under which its outcome is kept.
    delivery: String,
}

impl Engine {
    /// Takes in events; a receipt or a place in the queue for each, in order.
    ///
    /// # Errors
    /// An event that cannot be taken in refuses the whole call; so does the store.
    pub async fn ingest(
        &self,
        reactor: &str,
        events: Vec<IncomingEvent>,
    ) -> Result<Vec<EventOutcome>, Error> {
        if events.len() > EVENTS_MAX {
            return Err(Error::TooManyEvents(events.len()));
        }
        let parsed = events
            .iter()
            .enumerate()
            .map(|(index, event)| parse(event).map_err(|problem| at(index, event, problem)))
            .collect::<Result<Vec<Parsed>, Error>>()?;
        let mut op = self.begin(reactor).await?;
        let nodes = match targets(&op, &events) {
            Ok(nodes) => nodes,
            Err(error) => {
                op.leave();
                return Err(error);
            }
        };
        let keys: Vec<String> = parsed.iter().map(|p| p.delivery.clone()).collect();
        let known = op.tx.deliveries(&keys).await?;
        let mut batch = Batch::default();
        let mut fresh = Vec::new();
        let mut answers: BTreeMap<&str, EventOutcome> = BTreeMap::new();
        for (key, bytes) in &known {
            let outcome: EventOutcome = serde_json::from_slice(bytes).map_err(|error| {
                Error::Damaged { reactor: reactor.to_owned(), what: format!("a delivery: {error}") }
            })?;
            answers.insert(key, EventOutcome { repeated: true, ..outcome });
        }
        for (i, (node, parsed)) in nodes.iter().zip(&parsed).enumerate() {
            if answers.contains_key(parsed.delivery.as_str())
                || !batch.keys.insert(&parsed.delivery)
            {
                continue;
            }
            let arrival = batch.arrival(&mut op, *node, parsed).await?;
            batch.arrivals.push(arrival);
            fresh.push(i);
        }
        if fresh.is_empty() {
            op.leave();
        } else {
            let arrivals = std::mem::take(&mut batch.arrivals);
            let outcomes = op.decide(|core, seal, now| core.ingest(seal, now, arrivals));
            for (i, outcome) in fresh.into_iter().zip(outcomes) {
                let outcome = record(&mut op, &events[i], &parsed[i], outcome)?;
                answers.insert(&parsed[i].delivery, outcome);
            }
            op.finish().await?;
        }
        let mut seen = std::collections::BTreeSet::new();
        Ok(parsed
            .iter()
            .map(|p| {
                let outcome = answers[p.delivery.as_str()].clone();
                let again = !seen.insert(&p.delivery);
                EventOutcome { repeated: outcome.repeated || again, ..outcome }
            })
            .collect())
    }
}

fn parse(event: &IncomingEvent) -> Result<Parsed, EventProblem> {
    if event.key.is_empty() {
        return Err(EventProblem::NoKey);
    }
    if event.body.len() > EVENT_BYTES_MAX {
        return Err(EventProblem::TooLarge(event.body.len()));
    }
    let value = json::strict::parse(&event.body)?;
    let canonical = json::canonical(&value);
    Ok(Parsed {
        event: value,
        fingerprint: Fingerprint::of(&canonical),
        canonical,
        delivery: format!("{}/{}", event.gateway, event.key),
    })
}

fn at(index: usize, event: &IncomingEvent, problem: EventProblem) -> Error {
    Error::Event { index, gateway: event.gateway.clone(), key: event.key.clone(), problem }
}

fn targets(op: &Operation<'_>, events: &[IncomingEvent]) -> Result<Vec<NodeIx>, Error> {
    let graph = op.state.reactor.graph();
    let find = |(index, event): (usize, &IncomingEvent)| match graph.find(&event.gateway) {
        Some(v) if graph.spec(v).role != Role::Rendered => Ok(v),
        Some(_) => Err(at(index, event, EventProblem::NotAGateway)),
        None => {
            let gateways = op.state.program.gateways();
            Err(at(index, event, EventProblem::UnknownGateway(gateways)))
        }
    };
    events.iter().enumerate().map(find).collect()
}

/// What a batch has worked out so far, so that an event is held against the one before it.
#[derive(Default)]
struct Batch<'a> {
    keys: std::collections::BTreeSet<&'a str>,
    arrivals: Vec<Arrival>,
    last: BTreeMap<NodeIx, Last>,
}

struct Last {
    event: Option<Fingerprint>,
    tokens: Option<BTreeMap<String, Fingerprint>>,
    document: Option<Value>,
}

impl<'a> Batch<'a> {
    async fn arrival(
        &mut self,
        op: &mut Operation<'_>,
        node: NodeIx,
        parsed: &'a Parsed,
    ) -> Result<Arrival, Error> {
        let event = parsed.fingerprint.clone();
        let spec = op.state.reactor.graph().spec(node);
        if spec.role != Role::Passthrough {
            return Ok(Arrival { node, event, truth: None });
        }
        let name = spec.name.clone();
        let program = op.state.program.clone();
        let Some(program) = program.node(&name) else {
            return Err(Error::NoNode { reactor: op.name.clone(), node: name.to_string() });
        };
        if !self.last.contains_key(&node) {
            let last = self.before(op, node, program).await?;
            self.last.insert(node, last);
        }
        let last = self.last.entry(node).or_insert_with(Last::nothing);
        if last.event.as_ref() == Some(&event) {
            return Ok(Arrival { node, event, truth: None });
        }
        let truth = pass_through(op, program, last, parsed);
        last.event = truth.is_ok().then(|| event.clone());
        Ok(Arrival { node, event, truth: Some(truth) })
    }

    /// What the gateway holds before the batch.
    async fn before(
        &self,
        op: &mut Operation<'_>,
        node: NodeIx,
        program: &NodeProgram,
    ) -> Result<Last, Error> {
        let state = op.state.reactor.node(node);
        let event = state.memo.as_ref().and_then(|memo| memo.event.clone());
        let repeated = event.filter(|event| op.state.reactor.is_repeated(node, event));
        let current = state.current().cloned();
        let document = match &current {
            Some(version) if program.has_expressions => op.document(&version.tree).await?,
            _ => None,
        };
        let tokens = current.map(|version| version.fingerprints.as_ref().clone());
        Ok(Last { event: repeated, tokens, document })
    }
}

impl Last {
    fn nothing() -> Self {
        Self { event: None, tokens: None, document: None }
    }
}

/// The truth that an event makes, through canonicalizer and gate.
fn pass_through(
    op: &mut Operation<'_>,
    program: &NodeProgram,
    last: &mut Last,
    parsed: &Parsed,
) -> Result<Published, Failure> {
    let document = admit(&program.contract, parsed.event.clone());
    let tokens = program.canonicalizer.fingerprints(&document);
    let moved = last.tokens.as_ref() != Some(&tokens);
    let none = Value::Object(serde_json::Map::new());
    let attested = BTreeMap::new();
    gate::check(&program.postconditions, &document, last.document.as_ref(), &none, &attested)
        .map_err(|broken| Failure::new(FailureClass::Postcondition, reasons(&broken)))?;
    let refused = |error: String| Failure::new(FailureClass::Event, error);
    if !moved {
        // Nothing will be published: the truth that stands is carried forward.
        last.document = program.has_expressions.then_some(document);
        return Ok(Published { tree: Address::of(&parsed.canonical), fingerprints: tokens });
    }
    let files = files_of(document.clone(), &program.regions).map_err(|e| refused(e.to_string()))?;
    let snapshot = files.snapshot(&Limits::default()).map_err(|e| refused(e.to_string()))?;
    op.store_contents([(snapshot.address.clone(), snapshot.bytes)]);
    op.store_contents(snapshot.blobs);
    last.tokens = Some(tokens.clone());
    last.document = program.has_expressions.then_some(document);
    Ok(Published { tree: snapshot.address, fingerprints: tokens })
}

/// Broken conditions as one text for people.
pub(super) fn reasons(broken: &[prose_truth::Broken]) -> String {
    let each = broken.iter().map(|b| format!("{}: {} [{}]", b.text, b.reason, b.id));
    each.collect::<Vec<_>>().join("; ")
}

fn record(
    op: &mut Operation<'_>,
    event: &IncomingEvent,
    parsed: &Parsed,
    outcome: core::EventOutcome,
) -> Result<EventOutcome, Error> {
    let outcome = match outcome {
        core::EventOutcome::Decided { receipt, status } => EventOutcome {
            receipt: Some(receipt),
            status: match status {
                Status::Rendered => EventStatus::Rendered,
                Status::Skipped => EventStatus::Skipped,
                Status::Failed => EventStatus::Failed,
            },
            repeated: false,
        },
        core::EventOutcome::Queued { ordinal } => {
            op.changes.events.push(EventRow {
                node: event.gateway.clone(),
                ordinal,
                key: event.key.clone(),
                bytes: parsed.canonical.clone(),
            });
            EventOutcome { receipt: None, status: EventStatus::Queued, repeated: false }
        }
    };
    let bytes = serde_json::to_vec(&outcome)
        .map_err(|error| Error::Damaged { reactor: op.name.clone(), what: error.to_string() })?;
    op.changes.deliveries.push(NewDelivery { key: parsed.delivery.clone(), outcome: bytes });
    Ok(outcome)
}
