//! The compile itself: sources in, bundle and diagnostics out. No I/O but what the host is asked.

use std::collections::{BTreeMap, HashSet};

use prose_contract::{Code, Diagnostic, File, Parsed};
use prose_ir::{Check, Edge, Judge};

use crate::{
    Compilation, Host,
    emit::{self, NodeParts},
    fingerprint::Fingerprints,
    functions::Functions,
    lower::{Unit, capabilities::Capabilities, maintains::Maintains, thin},
    mounted::{Asked, Mounted, Place},
    wire::{self, Node},
};

/// A source once it is read.
struct Read {
    text: String,
    file: Option<File>,
}

impl Read {
    fn units(&self) -> impl Iterator<Item = Unit<'_>> {
        self.file.iter().flat_map(|file| Unit::all(file, &self.text))
    }
}

pub(crate) fn compile(
    sources: &BTreeMap<String, Vec<u8>>,
    host: &Host,
    mut diagnostics: Vec<Diagnostic>,
) -> Compilation {
    let mut functions = Functions::default();
    let mut mounted = Mounted::with_capacity(sources.len());
    let mut read = Vec::with_capacity(sources.len());
    // Each file is lowered as far as it goes by itself right after it is read, and most of it is
    // dropped again: of a large set, the first files have left the processor's caches long before
    // the last one is read.
    for (at, (path, bytes)) in sources.iter().enumerate() {
        let Parsed { text, mut file, diagnostics: found } = prose_contract::parse(path, bytes);
        diagnostics.extend(found);
        if let Some(file) = &mut file {
            for (entry, unit) in Unit::all(file, &text).enumerate() {
                functions.bind(path, unit.entry);
                mounted.add(path, (at, entry), unit, host, &mut diagnostics);
            }
            std::iter::once(&mut file.entry).chain(&mut file.inline).for_each(thin);
        }
        read.push(Read { text, file });
    }
    for unit in read.iter().flat_map(Read::units) {
        functions.add(unit);
    }
    functions.connect(host, &mut diagnostics);
    let Mounted { places, mut parts, asked, .. } = mounted;
    let node = |((file, entry), maintains): (Place, Maintains)| {
        let unit = read[file].units().nth(entry)?;
        Some(Node { unit, maintains })
    };
    let mut nodes: Vec<Node> = places.into_iter().filter_map(node).collect();
    let mut by_name: Vec<usize> = (0..nodes.len()).collect();
    by_name.sort_unstable_by_key(|at| nodes[*at].unit.name());
    let wired = wire::wire(&nodes, &by_name, &mut diagnostics);
    unbacked(&nodes, &wired.edges, &mut diagnostics);
    judge(&nodes, asked, &mut parts, &mut diagnostics);
    let mut fingerprints = Fingerprints::new(&functions);
    for ((node, part), needs) in nodes.iter_mut().zip(&mut parts).zip(wired.needs) {
        part.contract.fields = std::mem::take(&mut node.maintains.fields);
        part.contract.needs = needs;
        calls(node.unit, part, &functions, &mut fingerprints, &mut diagnostics);
    }
    sort(&mut diagnostics);
    // The parts are large: they are picked in order of name and not moved about by a sort.
    let mut parts: Vec<Option<NodeParts>> = parts.into_iter().map(Some).collect();
    let named = by_name.iter().filter_map(|at| parts[*at].take());
    let mut draft = emit::bundle(named, wired.edges, wired.acyclic, &diagnostics);
    let mut texts = Vec::with_capacity(read.len());
    draft.manifest.sources.reserve(read.len());
    for (path, Read { text, file }) in sources.keys().zip(read) {
        draft.manifest.sources.push(emit::source(path.clone(), file));
        texts.push((path.clone(), text));
    }
    finish(draft, diagnostics, texts.into_iter().collect())
}

/// What the functions that a node calls add to it.
fn calls(
    unit: Unit,
    part: &mut NodeParts,
    functions: &Functions,
    fingerprints: &mut Fingerprints,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let contract = &mut part.contract;
    if !contract.execution {
        return;
    }
    let callees = functions.callees(unit, diagnostics);
    if callees.is_empty() {
        return;
    }
    let called = functions.closure(&callees);
    let mut offered = Capabilities {
        tools: std::mem::take(&mut contract.tools),
        skills: std::mem::take(&mut contract.skills),
        environment: std::mem::take(&mut contract.environment),
        runtime: BTreeMap::new(),
    };
    offered.add(&functions.capabilities(&called));
    contract.tools = offered.tools;
    contract.skills = offered.skills;
    contract.environment = offered.environment;
    contract.contract_fingerprint = fingerprints.of(unit, &called);
    contract.functions = functions.texts(&called);
}

/// A bundle is only given out when nothing is wrong, and after the manifest's own rules had a say.
fn finish(
    draft: prose_ir::Bundle,
    mut diagnostics: Vec<Diagnostic>,
    sources: BTreeMap<String, String>,
) -> Compilation {
    let mut allowed = !diagnostics.iter().any(Diagnostic::is_error);
    if allowed && let Err(error) = draft.check() {
        allowed = false;
        diagnostics.push(Diagnostic::whole(Code::ManifestInvalid, "", error.to_string()));
    }
    let (bundle, refused) =
        if allowed { (Some(draft), None) } else { (None, Some(draft.manifest)) };
    Compilation { bundle, refused, diagnostics, sources }
}

fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by(|a, b| {
        (&a.path, a.span.start, a.code, &a.message).cmp(&(
            &b.path,
            b.span.start,
            b.code,
            &b.message,
        ))
    });
    diagnostics.dedup();
}

/// Facets that somebody subscribes to and nothing tells how to fingerprint.
fn unbacked(nodes: &[Node], edges: &[Edge], diagnostics: &mut Vec<Diagnostic>) {
    let subscribed: HashSet<(&str, &str)> =
        edges.iter().map(|e| (e.producer.as_str(), e.facet.as_str())).collect();
    for node in nodes {
        for facet in &node.maintains.facets {
            if subscribed.contains(&(node.unit.name(), facet.name.as_str())) && !facet.is_backed {
                let message = format!(
                    "the facet `{}` is subscribed to, but nothing says what is material in it",
                    facet.name
                );
                let found = node.unit.diagnostic(Code::FacetUnbacked, facet.span.clone(), message);
                diagnostics
                    .push(found.help("name its fields in backticks, or say what is material"));
            }
        }
    }
}

/// Settles who judges the conditions that may be expressions. All are checked in one go.
fn judge(
    nodes: &[Node],
    asked: Vec<Asked>,
    parts: &mut [NodeParts],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let expressions: Vec<&str> = asked.iter().map(|asked| asked.expression.as_str()).collect();
    // What decides here is what decides at the gate.
    let verdicts = prose_truth::check_conditions(&expressions);
    for (asked, verdict) in asked.into_iter().zip(verdicts) {
        let check: &mut Check = &mut parts[asked.node].postconditions.checks[asked.check];
        match verdict {
            Ok(()) => check.judge = Judge::Cel(asked.expression),
            Err(why) => {
                let what = shortened(&asked.expression);
                let message = format!("`{what}` cannot be decided by code: {why}");
                let unit = nodes[asked.node].unit;
                let found = unit.diagnostic(Code::PostconditionInvalid, asked.span, message);
                diagnostics.push(found.help("the render attests it instead"));
            }
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}
