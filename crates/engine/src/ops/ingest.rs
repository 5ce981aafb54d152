//! Ingest: external events, under one wave, all or none.

use std::{collections::BTreeMap, sync::Arc};

use prose_ir::Address;
use prose_reconciler::{self as core, NodeIx, Role, Status};
use prose_store::{EventRow, NewDelivery};
use serde::{Deserialize, Serialize};

use super::arrival::{self, Batch, Parsed};
use crate::{EVENTS_MAX, Engine, Error, EventProblem, operation::Operation};

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
        // Reading the events is most of the work, and needs no lock.
        let program = self.slot(reactor).cached.lock().await.as_ref().map(|c| c.program.clone());
        let parsed = arrival::read(&events, program.as_deref())
            .map_err(|(index, problem)| at(index, &events[index], problem))?;
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
        let is_current = program.is_some_and(|p| Arc::ptr_eq(&p, &op.state.program));
        let mut batch = Batch::new(is_current);
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
