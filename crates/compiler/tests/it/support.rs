//! Small source sets, and the conformance corpus where it is present.

use std::{collections::BTreeMap, path::PathBuf};

use prose_compiler::{Compilation, Host};

/// A part of the conformance corpus; `None` where it is not present.
pub fn corpus(part: &str) -> Option<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let path = PathBuf::from(root).join(part);
    if path.exists() {
        Some(path)
    } else {
        eprintln!("skipped: no {}", path.display());
        None
    }
}

/// Compiles `(path, text)` pairs on a host that has everything.
pub fn compile(files: &[(&str, &str)]) -> Compilation {
    let sources: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    prose_compiler::compile_sources(&sources, &Host::trusting())
}

/// The host of the tests: nothing but the shell, no skills, no servers.
pub fn host() -> Host {
    Host { path: vec!["/bin".into(), "/usr/bin".into()], ..Host::default() }
}

/// The edges as `subscriber <- producer.facet`.
pub fn edges(compilation: &Compilation) -> Vec<String> {
    let edges = &compilation.topology().edges;
    edges.iter().map(|e| format!("{} <- {}.{}", e.subscriber, e.producer, e.facet)).collect()
}

/// The codes of the diagnostics above info, in order.
pub fn codes(compilation: &Compilation) -> Vec<&'static str> {
    let loud =
        compilation.diagnostics.iter().filter(|d| d.severity > prose_contract::Severity::Info);
    loud.map(|d| d.code.as_str()).collect()
}
