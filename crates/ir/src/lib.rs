//! The seam between the compile phase and the run phase: the types of a manifest and of the
//! artifacts beside it.
//!
//! The compiler writes these values, everything after it only reads them. The crate knows shapes
//! and their rules ([`validate`]); it does not know Markdown, and it decides nothing at run time.

mod bundle;
mod canonicalizer;
mod contract;
mod hash;
mod manifest;
mod postcondition;
pub mod validate;

pub use bundle::{Bundle, BundleError};
pub use canonicalizer::{Canonicalizer, FacetSpec, Rule, RuleKind};
pub use contract::{
    Cadence, Contract, Need, NodeKind, Route, Slot, Tool, ToolKind, WakeMode, Wiring,
};
pub use hash::{Address, Fingerprint, MalformedHash};
pub use manifest::{
    CanonicalizerRef, Diagnostic, Edge, MANIFEST_KIND, MANIFEST_VERSION, Manifest, Node,
    PostconditionMode, PostconditionRef, Severity, Source, SourceKind, Topology, WakeSource,
};
pub use postcondition::{Check, Judge, Postconditions, Structure};

/// The facet that every node has: its whole truth.
pub const ATOMIC: &str = "@atomic";

/// The node whose truth is the mounted topology itself; nobody can declare it.
pub const TOPOLOGY_NODE: &str = "@topology";

/// The version written into every artifact; a reader refuses any other.
pub const ARTIFACT_VERSION: u32 = 1;
