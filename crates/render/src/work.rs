//! A claimed wake and the task it becomes.

use std::collections::{BTreeMap, BTreeSet};

use prose_harness::{Attest, Input, Limits, Source, TaskSpec, Wake};
use prose_ir::{Contract, Need, ToolKind};
use prose_truth::{DocumentError, Files, region_key};
use serde_json::Value;

/// What a worker needs in order to render one node once.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// The reactor.
    pub reactor: String,
    /// The node's contract.
    pub contract: Contract,
    /// Conditions that the session has to attest.
    pub attest: Vec<Attest>,
    /// Why it wakes.
    pub wake: Wake,
    /// When the inputs were pinned, RFC 3339.
    pub as_of: String,
    /// The pinned inputs, in any order.
    pub pins: Vec<Pinned>,
    /// The node's published truth; empty before the first.
    pub prior: Files,
    /// A gateway's events as JSON text, oldest first.
    pub events: Vec<Vec<u8>>,
    /// Answers people gave to earlier requests.
    pub answers: BTreeMap<String, Value>,
}

/// One pinned input.
#[derive(Debug, Clone, PartialEq)]
pub struct Pinned {
    /// The need it satisfies.
    pub need: String,
    /// The producing node.
    pub producer: String,
    /// The subscribed facet.
    pub facet: String,
    /// Its token; none where the producer has not published it.
    pub fingerprint: Option<String>,
    /// The receipt that published it.
    pub receipt: Option<String>,
    /// The producer's whole pinned tree.
    pub files: Option<Files>,
}

/// Why a claim cannot become a task. Neither can happen to what a coordinator published.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A pinned truth does not read as one document.
    #[error("the pinned truth of `{producer}` for need `{need}`")]
    Input {
        /// The need.
        need: String,
        /// The producing node.
        producer: String,
        /// Why.
        source: Box<DocumentError>,
    },
    /// A pin for a need that the contract does not have.
    #[error("an input is pinned for need `{0}`, which the contract does not have")]
    UnknownNeed(String),
}

impl Work {
    /// The task a session gets.
    ///
    /// # Errors
    ///
    /// Pins that do not fit the contract, and trees that are no truth.
    pub fn task(&self, limits: &Limits) -> Result<TaskSpec, WorkError> {
        let contract = &self.contract;
        if let Some(stray) = self.pins.iter().find(|pin| !self.has_need(&pin.need)) {
            return Err(WorkError::UnknownNeed(stray.need.clone()));
        }
        let inputs = contract.needs.iter().map(|need| self.input(need));
        Ok(TaskSpec {
            contract: contract.text.clone(),
            reactor: self.reactor.clone(),
            node: contract.node.clone(),
            wake: self.wake.clone(),
            as_of: self.as_of.clone(),
            facets: contract.facets.iter().map(|facet| region_key(facet).to_owned()).collect(),
            inputs: inputs.collect::<Result<_, _>>()?,
            prior: self.prior.clone(),
            events: self.events.clone(),
            attest: self.attest.clone(),
            tools: self.tools(),
            environment: contract.environment.clone(),
            functions: contract.functions.clone(),
            answers: self.answers.clone(),
            limits: limits.clone(),
        })
    }

    fn has_need(&self, name: &str) -> bool {
        self.contract.needs.iter().any(|need| need.name == name)
    }

    fn input(&self, need: &Need) -> Result<Input, WorkError> {
        let producers: BTreeSet<_> = need.slots.iter().map(|slot| &slot.producer).collect();
        let sources = need.slots.iter().map(|slot| {
            let pin = self.pins.iter().find(|pin| {
                (&pin.need, &pin.producer, &pin.facet) == (&need.name, &slot.producer, &slot.facet)
            });
            let bare = Source {
                producer: slot.producer.clone(),
                facet: slot.facet.clone(),
                ..Source::default()
            };
            pin.map_or(Ok(bare), Pinned::source)
        });
        Ok(Input {
            need: need.name.clone(),
            text: need.text.clone(),
            fan_in: producers.len() > 1,
            sources: sources.collect::<Result<_, _>>()?,
        })
    }

    fn tools(&self) -> Vec<String> {
        let prefix = |kind| match kind {
            ToolKind::Cli => "cli",
            ToolKind::Mcp => "mcp",
        };
        let tools = self.contract.tools.iter();
        tools.map(|tool| format!("{}:{}", prefix(tool.kind), tool.name)).collect()
    }
}

impl Pinned {
    fn source(&self) -> Result<Source, WorkError> {
        let narrowed =
            self.files.as_ref().map(|files| prose_truth::narrow(files, &self.facet)).transpose();
        let files = narrowed.map_err(|source| WorkError::Input {
            need: self.need.clone(),
            producer: self.producer.clone(),
            source: Box::new(source),
        })?;
        Ok(Source {
            producer: self.producer.clone(),
            facet: self.facet.clone(),
            fingerprint: self.fingerprint.clone(),
            receipt: self.receipt.clone(),
            files,
        })
    }
}
