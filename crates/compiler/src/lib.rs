//! Contracts to a manifest: discover, lower, wire, emit, validate.
//!
//! This is the deterministic half of the compile: what the author has pinned down. The same
//! sources on the same host give the same bytes.

mod artifacts;
mod discover;
mod emit;
mod error;
mod fingerprint;
mod functions;
mod host;
mod lower;
mod mounted;
mod program;
mod wire;
mod words;

use std::{collections::BTreeMap, path::Path};

use prose_contract::Diagnostic;
use prose_ir::{Bundle, Manifest, Topology};

pub use artifacts::{MANIFEST_NEXT, read, read_manifest, write};
pub use error::Error;
pub use host::Host;

/// What is left of the graph once the bundle has been taken out.
static NO_TOPOLOGY: Topology =
    Topology { nodes: Vec::new(), edges: Vec::new(), entry_points: Vec::new(), acyclic: true };

/// What came of a compile.
#[derive(Debug, Clone)]
pub struct Compilation {
    /// The manifest and its artifacts; absent while any diagnostic is an error.
    pub bundle: Option<Bundle>,
    /// The manifest that was refused, when there is no bundle to hold one.
    refused: Option<Manifest>,
    /// Everything that was found, by path and position.
    pub diagnostics: Vec<Diagnostic>,
    /// The decoded text of each source, as the spans of diagnostics count it.
    pub sources: BTreeMap<String, String>,
}

impl Compilation {
    /// The manifest as far as it goes, for those who want to look at the graph all the same. While
    /// there are errors it breaks the manifest's rules and must not be mounted. There is none once
    /// the bundle has been taken out.
    pub fn draft(&self) -> Option<&Manifest> {
        self.bundle.as_ref().map(|bundle| &bundle.manifest).or(self.refused.as_ref())
    }

    /// The graph, whether or not it may be mounted.
    pub fn topology(&self) -> &Topology {
        self.draft().map_or(&NO_TOPOLOGY, |draft| &draft.topology)
    }

    /// The errors among the diagnostics.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|d| d.is_error())
    }
}

/// Compiles the contracts under `root`.
///
/// # Errors
/// When the folder is missing, cannot be listed, or holds no contract. What is wrong with the
/// contracts themselves is told in the diagnostics.
pub fn compile(root: &Path, host: &Host) -> Result<Compilation, Error> {
    let found = discover::discover(root)?;
    if found.files.is_empty() && found.diagnostics.is_empty() {
        return Err(Error::Empty(root.to_owned()));
    }
    let host = host.with_project(root);
    Ok(program::compile(&found.files, &host, found.diagnostics))
}

/// Compiles a source set that is already at hand: root-relative paths to content.
pub fn compile_sources(sources: &BTreeMap<String, Vec<u8>>, host: &Host) -> Compilation {
    program::compile(sources, host, Vec::new())
}
