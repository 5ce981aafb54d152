//! The manifest: compile-phase IR, version 2, exactly the fields of the format's own schema.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Fingerprint;

/// The literal `kind` of a manifest.
pub const MANIFEST_KIND: &str = "openprose.compile-phase-ir";
/// The literal `version` of a manifest.
pub const MANIFEST_VERSION: u32 = 2;

/// The output of a compile: what is mounted, wired and frozen.
///
/// No other fields are allowed; what else the run phase needs is in the artifacts that the
/// manifest points to (see [`crate::Bundle`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Always [`MANIFEST_KIND`].
    pub kind: String,
    /// Always [`MANIFEST_VERSION`].
    pub version: u32,
    /// The source set that was read, sorted by path.
    pub sources: Vec<Source>,
    /// The resolved graph.
    pub topology: Topology,
    /// One for each node, sorted by node.
    pub canonicalizers: Vec<CanonicalizerRef>,
    /// One for each node, sorted by node.
    pub postconditions: Vec<PostconditionRef>,
    /// Node to contract fingerprint; equal to those in `topology.nodes`.
    pub contract_fingerprints: BTreeMap<String, Fingerprint>,
    /// Warnings and notes; a manifest with an error is never written.
    pub diagnostics: Vec<Diagnostic>,
}

/// One file of the source set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Root-relative path with forward slashes.
    pub path: String,
    /// The declared kind.
    pub kind: SourceKind,
    /// The declared name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What a source file declares itself to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// A mounted node that keeps a truth current.
    Responsibility,
    /// A called helper.
    Function,
    /// A node that lets the outside world in.
    Gateway,
    /// A reusable design that expands into nodes.
    Pattern,
    /// A harness around a subject.
    Test,
    /// None of the above.
    Unknown,
}

/// Nodes, subscriptions and entry points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// Sorted by name.
    pub nodes: Vec<Node>,
    /// Sorted by subscriber, producer, facet; no duplicates.
    pub edges: Vec<Edge>,
    /// The external-driven nodes, sorted.
    pub entry_points: Vec<String>,
    /// Whether the edges are free of cycles; a written manifest always says `true`.
    pub acyclic: bool,
}

/// A mounted producer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its stable name.
    pub node: String,
    /// The frozen fingerprint of its contract.
    pub contract_fingerprint: Fingerprint,
    /// Its intrinsic wake source.
    pub wake_source: WakeSource,
}

/// Who may wake a node by declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WakeSource {
    /// A moved input.
    Input,
    /// Its own continuity clock.
    #[serde(rename = "self")]
    Own,
    /// The outside world.
    External,
}

/// One resolved subscription.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The node that reads.
    pub subscriber: String,
    /// The node that is read.
    pub producer: String,
    /// The facet that is read, [`crate::ATOMIC`] for the whole truth.
    pub facet: String,
}

/// Where a node's canonicalizer is, and the facets it emits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanonicalizerRef {
    /// The node.
    pub node: String,
    /// Root-relative path of the artifact.
    pub artifact: String,
    /// [`crate::ATOMIC`] first, then the declared facets in order of declaration.
    pub facets: Vec<String>,
}

/// Where a node's postconditions are, and who decides them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostconditionRef {
    /// The node.
    pub node: String,
    /// Root-relative path of the artifact.
    pub artifact: String,
    /// Who decides.
    pub mode: PostconditionMode,
}

/// Whether code alone decides a node's postconditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PostconditionMode {
    /// Every check is verified by code on commit.
    Deterministic,
    /// At least one check is attested by the render.
    RenderAttested,
}

/// A remark of the compile that is kept with the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// Code, place and sentence.
    pub message: String,
    /// The source it speaks of.
    #[serde(rename = "sourcePath", default, skip_serializing_if = "Option::is_none")]
    pub source_path: Option<String>,
}

/// How serious a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Probably not what the author meant.
    Warning,
    /// Keeps the manifest from being written.
    Error,
}
