//! What a session is asked to do.

use std::collections::BTreeMap;

use prose_truth::Files;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Limits;

/// Version of `task.json`.
pub const TASK_VERSION: u32 = 1;

/// Everything a task folder is made from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskSpec {
    /// The contract, as authored: `contract.md`.
    pub contract: String,
    /// The reactor.
    pub reactor: String,
    /// The node.
    pub node: String,
    /// Counted from one; more than one after infrastructure failures.
    pub attempt: u32,
    /// Why it wakes.
    pub wake: Wake,
    /// When the inputs were pinned, RFC 3339.
    pub as_of: String,
    /// Keys of the truth that are facet regions.
    pub facets: Vec<String>,
    /// The needs with their pinned trees.
    pub inputs: Vec<Input>,
    /// Published before this render.
    pub prior: Files,
    /// A gateway's events as JSON text, oldest first.
    pub events: Vec<Vec<u8>>,
    /// Postconditions that the session has to attest.
    pub attest: Vec<Attest>,
    /// Declared tools.
    pub tools: Vec<String>,
    /// Names (never values) of the environment variables it may see.
    pub environment: Vec<String>,
    /// Functions the contract calls: name to authored text.
    pub functions: BTreeMap<String, String>,
    /// Answers people gave to earlier requests: request to value.
    pub answers: BTreeMap<String, Value>,
    /// What it may use, told to the session in `task.json`.
    pub limits: Limits,
}

/// One need, as pinned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Input {
    /// Name of the need; a single path segment.
    pub need: String,
    /// The need in the author's words.
    pub text: String,
    /// Several producers: each has a folder of its own under the need's.
    pub fan_in: bool,
    /// One for each resolved subscription, in order.
    pub sources: Vec<Source>,
}

/// One pinned subscription.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source {
    /// The producing node; a single path segment.
    pub producer: String,
    /// Its facet.
    pub facet: String,
    /// The pinned fingerprint.
    pub fingerprint: Option<String>,
    /// The pinned receipt.
    pub receipt: Option<String>,
    /// The pinned tree; none when the producer has never published.
    pub files: Option<Files>,
}

/// Why a node wakes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wake {
    /// `input`, `self` or `external`.
    pub source: String,
    /// Addresses of the receipts that woke it.
    #[serde(default)]
    pub refs: Vec<String>,
    /// `input`, `freshness`, `external`, `contract` or `retry`.
    pub cause: String,
}

/// A postcondition that only the session can judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attest {
    /// Key in `attestations` of `result.json`.
    pub id: String,
    /// The condition in the author's words.
    pub text: String,
}

/// `task.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Always [`TASK_VERSION`].
    pub version: u32,
    /// The reactor.
    pub reactor: String,
    /// The node.
    pub node: String,
    /// Counted from one; more than one after infrastructure failures.
    #[serde(default)]
    pub attempt: u32,
    /// Why it wakes.
    pub wake: Wake,
    /// When the inputs were pinned, RFC 3339.
    pub as_of: String,
    /// Keys of the truth that are facet regions: `published/<facet>/truth.json`.
    #[serde(default)]
    pub facets: Vec<String>,
    /// What lies in `inputs/`.
    #[serde(default)]
    pub inputs: Vec<TaskInput>,
    /// Paths of the events, oldest first.
    #[serde(default)]
    pub events: Vec<String>,
    /// What to attest.
    #[serde(default)]
    pub attest: Vec<Attest>,
    /// Declared tools.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Names of the environment variables it may see.
    #[serde(default)]
    pub environment: Vec<String>,
    /// Names of the functions in `functions/`.
    #[serde(default)]
    pub functions: Vec<String>,
    /// Answers people gave to earlier requests.
    #[serde(default)]
    pub answers: BTreeMap<String, Value>,
    /// What it may use.
    pub limits: TaskLimits,
}

/// One need in `task.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskInput {
    /// Name of the need.
    pub need: String,
    /// The need in the author's words.
    pub text: String,
    /// Where its tree lies: `inputs/<need>`.
    pub path: String,
    /// Whether each producer has a folder of its own below `path`.
    pub fan_in: bool,
    /// The subscriptions, in order.
    pub producers: Vec<Producer>,
}

/// One subscription in `task.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Producer {
    /// The producing node.
    pub producer: String,
    /// Its facet.
    pub facet: String,
    /// Whether it has published.
    pub published: bool,
    /// The pinned fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The pinned receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

/// Limits as a session is told them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLimits {
    /// From start to TERM.
    pub deadline_ms: u64,
    /// Bytes printed.
    pub output_bytes: u64,
    /// Files and folders in `published/`.
    pub published_files: u64,
    /// Bytes in `published/`.
    pub published_bytes: u64,
    /// Bytes of `result.json`.
    pub result_bytes: u64,
}

impl TaskSpec {
    /// The `task.json` of this task.
    #[must_use]
    pub fn task(&self) -> Task {
        Task {
            version: TASK_VERSION,
            reactor: self.reactor.clone(),
            node: self.node.clone(),
            attempt: self.attempt,
            wake: self.wake.clone(),
            as_of: self.as_of.clone(),
            facets: self.facets.clone(),
            inputs: self.inputs.iter().map(Input::described).collect(),
            events: (1..=self.events.len()).map(event_path).collect(),
            attest: self.attest.clone(),
            tools: self.tools.clone(),
            environment: self.environment.clone(),
            functions: self.functions.keys().cloned().collect(),
            answers: self.answers.clone(),
            limits: TaskLimits::from(&self.limits),
        }
    }
}

impl Input {
    /// Where the need's tree lies.
    pub(crate) fn path(&self) -> String {
        format!("inputs/{}", self.need)
    }

    /// Where the tree of one of its producers lies.
    pub(crate) fn source_path(&self, source: &Source) -> String {
        if self.fan_in { format!("{}/{}", self.path(), source.producer) } else { self.path() }
    }

    fn described(&self) -> TaskInput {
        TaskInput {
            need: self.need.clone(),
            text: self.text.clone(),
            path: self.path(),
            fan_in: self.fan_in,
            producers: self.sources.iter().map(Source::described).collect(),
        }
    }
}

impl Source {
    fn described(&self) -> Producer {
        Producer {
            producer: self.producer.clone(),
            facet: self.facet.clone(),
            published: self.files.is_some(),
            fingerprint: self.fingerprint.clone(),
            receipt: self.receipt.clone(),
        }
    }
}

impl From<&Limits> for TaskLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            deadline_ms: u64::try_from(limits.deadline.as_millis()).unwrap_or(u64::MAX),
            output_bytes: limits.output_bytes,
            published_files: limits.published_files as u64,
            published_bytes: limits.published_bytes,
            result_bytes: limits.result_bytes,
        }
    }
}

/// Path of the `number`th event, counted from one. Wider numbers sort by `task.json`, not by name.
pub(crate) fn event_path(number: usize) -> String {
    format!("events/{number:04}.json")
}
