//! The lowered contract of one node (`dist/contracts/<node>.json`): what the run phase needs
//! besides fingerprints.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Fingerprint;

/// One node's contract as the run phase sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Always [`crate::ARTIFACT_VERSION`].
    pub version: u32,
    /// The node.
    pub node: String,
    /// What kind of node.
    pub kind: NodeKind,
    /// The frozen fingerprint of the contract.
    pub contract_fingerprint: Fingerprint,
    /// Root-relative path of the source file.
    pub path: String,
    /// The contract as authored: the file, or the inline entry.
    pub text: String,
    /// The `### Goal`, white space collapsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Declared shared fields of `### Maintains`, in order.
    #[serde(default)]
    pub fields: Vec<String>,
    /// Declared facets, in order.
    #[serde(default)]
    pub facets: Vec<String>,
    /// What it reads, in order of declaration.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Every declared wake mode, in order of declaration.
    #[serde(default)]
    pub wake_modes: Vec<WakeMode>,
    /// Cadences of `### Continuity` and `### Schedule` that code understands.
    #[serde(default)]
    pub cadences: Vec<Cadence>,
    /// Whether a render body is declared. A gateway without one is a passthrough.
    pub execution: bool,
    /// `### Receives` lines that lower to routes.
    #[serde(default)]
    pub routes: Vec<Route>,
    /// Declared tools.
    #[serde(default)]
    pub tools: Vec<Tool>,
    /// Declared skills, `namespace:name`.
    #[serde(default)]
    pub skills: Vec<String>,
    /// Names of environment variables the render may see.
    #[serde(default)]
    pub environment: Vec<String>,
    /// `### Runtime` hints, name to value.
    #[serde(default)]
    pub runtime: BTreeMap<String, String>,
    /// Functions the render calls, directly or through others: name to authored text.
    #[serde(default)]
    pub functions: BTreeMap<String, String>,
}

/// The two kinds of mounted nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    /// Keeps a truth current from its inputs.
    Responsibility,
    /// Lets the outside world in.
    Gateway,
}

/// One need and the producers that satisfy it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// Unique within the node; a single path segment. Inputs are found under this name.
    pub name: String,
    /// The need in the author's words, white space collapsed.
    pub text: String,
    /// Read when rendering, but neither waking nor part of the memo key.
    #[serde(default)]
    pub context: bool,
    /// The node may render before this input has ever been published.
    #[serde(default)]
    pub optional: bool,
    /// Resolved subscriptions in order; several for a fan-in.
    pub slots: Vec<Slot>,
}

/// One resolved subscription of a need.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// The producing node.
    pub producer: String,
    /// Its facet.
    pub facet: String,
    /// The rule that found it.
    pub wiring: Wiring,
}

/// The wiring rule that yielded a subscription, for explanations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wiring {
    /// The need names its producer.
    Named,
    /// The need's name is a facet of exactly one producer.
    Facet,
    /// The need's name is a field or the name of exactly one producer.
    Field,
    /// A facet family or one of its members.
    Family,
    /// A gateway's `Emits` names the subscriber.
    Emits,
}

/// What may wake a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WakeMode {
    /// A moved input.
    Input,
    /// Its own clock.
    #[serde(rename = "self")]
    Own,
    /// The outside world.
    External,
}

/// A cadence that code understands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cadence {
    /// Every so many seconds.
    EverySeconds(u64),
    /// A five-field cron expression in a named time zone (`UTC` unless the author names one).
    Cron {
        /// The expression.
        expression: String,
        /// IANA name.
        zone: String,
    },
    /// When the truth's own `valid_until` lapses.
    ValidUntil,
}

/// An ingress of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// An HTTP request; `GET` means that the gateway polls.
    Http {
        /// Upper case.
        method: String,
        /// Begins with `/`.
        path: String,
    },
    /// A NATS subject.
    Nats(String),
    /// Files appearing in a folder.
    File(String),
}

/// A declared host tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Where the host looks it up.
    pub kind: ToolKind,
    /// Its name.
    pub name: String,
}

/// Where a tool is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    /// An executable on `PATH`.
    Cli,
    /// A server in the host's MCP registry.
    Mcp,
}
