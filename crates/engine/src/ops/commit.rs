//! Commit: a session's result, through canonicalizer and gate.

use std::collections::BTreeMap;

use prose_ir::Address;
use prose_reconciler::{
    CommitError, Cost, Failure, FailureClass, Flight, NodeIx, Outcome, Published,
};
use prose_truth::{Files, Limits, document, gate, json};
use serde_json::{Map, Value};

use super::arrival::reasons;
use crate::{Engine, Error, operation::Operation};

/// What a worker brings back.
#[derive(Debug, Clone)]
pub struct CommitRequest {
    /// From the lease.
    pub fence: u64,
    /// What the session came to.
    pub result: SessionResult,
    /// What it cost.
    pub cost: Cost,
}

/// What a session came to.
#[derive(Debug, Clone)]
pub enum SessionResult {
    /// A new truth.
    Rendered {
        /// The whole of it.
        files: Files,
        /// Condition id to whether the render attests it.
        attestations: BTreeMap<String, bool>,
        /// For readers.
        diff: Option<String>,
    },
    /// The render says that it cannot.
    Failed {
        /// Why.
        reason: String,
        /// What a person has to supply, as JSON text.
        needs: Option<String>,
        /// Who can supply it.
        addressed_to: Option<String>,
    },
    /// The harness did not do its work.
    Infrastructure {
        /// Why.
        reason: String,
    },
}

/// What a commit came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitAnswer {
    /// The fence is stale; nothing has changed.
    Stale,
    /// Another attempt follows.
    Retrying,
    /// The truth is published.
    Rendered(Address),
    /// The prior truth stands.
    Failed {
        /// The receipt.
        receipt: Address,
        /// Why.
        reason: String,
    },
}

impl Engine {
    /// Ends a render.
    ///
    /// # Errors
    /// No such reactor, or the store. A stale fence is an answer, not an error.
    pub async fn commit(
        &self,
        reactor: &str,
        node: &str,
        request: CommitRequest,
    ) -> Result<CommitAnswer, Error> {
        let mut op = self.begin(reactor).await?;
        let flight = op.node(node).ok().map(|v| (v, op.state.reactor.flight(v, request.fence)));
        let Some((v, Ok(flight))) = flight else {
            op.leave();
            return Ok(CommitAnswer::Stale);
        };
        let flight = flight.clone();
        let outcome = op.outcome(v, &flight, request.result, request.cost).await?;
        let reason = match &outcome {
            Outcome::Failed { failure, .. } => Some(failure.reason.clone()),
            Outcome::Infrastructure { reason, .. } => Some(reason.clone()),
            Outcome::Rendered { .. } => None,
        };
        let fence = request.fence;
        let answer = op.decide(|core, seal, now| core.commit(seal, now, v, fence, outcome));
        op.finish().await?;
        Ok(match (answer, reason) {
            (Err(CommitError::StaleFence { .. }), _) => CommitAnswer::Stale,
            (Ok(None), _) => CommitAnswer::Retrying,
            (Ok(Some(receipt)), None) => CommitAnswer::Rendered(receipt),
            (Ok(Some(receipt)), Some(reason)) => CommitAnswer::Failed { receipt, reason },
        })
    }
}

impl Operation<'_> {
    async fn outcome(
        &mut self,
        v: NodeIx,
        flight: &Flight,
        result: SessionResult,
        cost: Cost,
    ) -> Result<Outcome, Error> {
        Ok(match result {
            SessionResult::Rendered { files, attestations, diff } => {
                match self.publishable(v, flight, &files, &attestations).await? {
                    Ok(truth) => Outcome::Rendered { truth, diff, cost },
                    Err(reason) => {
                        let failure = Failure::new(FailureClass::Postcondition, reason);
                        Outcome::Failed { failure, cost }
                    }
                }
            }
            SessionResult::Failed { reason, needs, addressed_to } => {
                let class = match needs {
                    Some(_) => FailureClass::NeedsInput,
                    None => FailureClass::Render,
                };
                let readable = |text: &String| json::strict::parse(text.as_bytes()).is_ok();
                let needs = needs.filter(readable);
                Outcome::Failed { failure: Failure { class, reason, addressed_to, needs }, cost }
            }
            SessionResult::Infrastructure { reason } => Outcome::Infrastructure { reason, cost },
        })
    }

    /// Canonicalizes a truth and holds it against its gate. The inner error says what is broken.
    async fn publishable(
        &mut self,
        v: NodeIx,
        flight: &Flight,
        files: &Files,
        attestations: &BTreeMap<String, bool>,
    ) -> Result<Result<Published, String>, Error> {
        let node = self.state.reactor.graph().spec(v).name.clone();
        let program = self.state.program.clone();
        let Some(program) = program.node(&node) else {
            return Err(Error::NoNode { reactor: self.name.clone(), node: node.to_string() });
        };
        let truth = match document(files) {
            Ok(truth) => truth,
            Err(error) => return Ok(Err(format!("the truth cannot be read: {error}"))),
        };
        let snapshot = match files.snapshot(&Limits::default()) {
            Ok(snapshot) => snapshot,
            Err(error) => return Ok(Err(format!("the truth cannot be stored: {error}"))),
        };
        let (prior, inputs) = if program.has_expressions {
            let prior = self.state.reactor.node(v).current().map(|current| current.tree.clone());
            let prior = match prior {
                Some(tree) => self.document(&tree).await?,
                None => None,
            };
            (prior, self.inputs(flight).await?)
        } else {
            (None, Value::Object(Map::new()))
        };
        let checked =
            gate::check(&program.postconditions, &truth, prior.as_ref(), &inputs, attestations);
        if let Err(broken) = checked {
            return Ok(Err(reasons(&broken)));
        }
        let fingerprints = program.canonicalizer.fingerprints(&truth);
        self.store_contents([(snapshot.address.clone(), snapshot.bytes)]);
        self.store_contents(snapshot.blobs);
        Ok(Ok(Published { tree: snapshot.address, fingerprints }))
    }

    /// The inputs as expressions read them: each need's document, by producer for a fan-in.
    async fn inputs(&mut self, flight: &Flight) -> Result<Value, Error> {
        let mut needs: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
        for pin in &flight.basis.pins {
            let Some(tree) = &pin.tree else { continue };
            let files = self.files(tree).await?;
            let read = prose_truth::narrow(&files, &pin.source.facet)
                .and_then(|narrowed| document(&narrowed))
                .map_err(|error| self.damaged(error))?;
            let producers = needs.entry(pin.source.need.clone()).or_default();
            let all = producers.entry(pin.source.producer.clone()).or_insert_with(|| read.clone());
            if let (Some(all), Value::Object(read)) = (all.as_object_mut(), read) {
                all.extend(read);
            }
        }
        let fan_in = |need: &str| {
            let of_need = flight.basis.pins.iter().filter(|p| p.source.need == need);
            let producers = of_need.map(|p| &p.source.producer);
            producers.collect::<std::collections::BTreeSet<_>>().len() > 1
        };
        let value = |(need, mut producers): (String, BTreeMap<String, Value>)| {
            let whole = if fan_in(&need) {
                Value::Object(producers.into_iter().collect())
            } else {
                producers.pop_first().map(|(_, document)| document).unwrap_or_default()
            };
            (need, whole)
        };
        Ok(Value::Object(needs.into_iter().map(value).collect()))
    }
}
