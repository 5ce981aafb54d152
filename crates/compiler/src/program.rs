//! The compile itself: sources in, bundle and diagnostics out. No I/O but what the host is asked.

use std::collections::BTreeMap;

use prose_contract::{Code, Diagnostic, File, Kind, Parsed, Section, SectionKind};
use prose_ir::{
    ARTIFACT_VERSION, ATOMIC, Check, Contract, Edge, Judge, Need, NodeKind, Postconditions,
    Structure,
};

use crate::{
    Compilation, Host, cel,
    emit::{self, NodeParts},
    fingerprint::Fingerprints,
    functions::{self, Functions},
    lower::{Unit, capabilities, continuity, gateway, maintains, postconditions},
    wire::{self, Node},
};

pub(crate) fn compile(
    sources: &BTreeMap<String, Vec<u8>>,
    host: &Host,
    mut diagnostics: Vec<Diagnostic>,
) -> Compilation {
    let mut texts = BTreeMap::new();
    let mut parsed = Vec::with_capacity(sources.len());
    for (path, bytes) in sources {
        let Parsed { text, file, diagnostics: found } = prose_contract::parse(path, bytes);
        texts.insert(path.clone(), text);
        diagnostics.extend(found);
        parsed.push((path, file));
    }
    let files: Vec<&File> = parsed.iter().filter_map(|(_, file)| file.as_ref()).collect();
    let functions = Functions::collect(&files, host, &mut diagnostics);
    let nodes = nodes(&files, &mut diagnostics);
    let wired = wire::wire(&nodes, &mut diagnostics);
    unbacked(&nodes, &wired.edges, &mut diagnostics);
    let checks = judge(&nodes, &mut diagnostics);
    let fingerprints = Fingerprints::new(&functions);
    let mut parts = Vec::with_capacity(nodes.len());
    for ((node, needs), checks) in nodes.iter().zip(wired.needs).zip(checks) {
        let lowering =
            Lowering { host, functions: &functions, fingerprints: &fingerprints, texts: &texts };
        parts.push(lowering.node(node, needs, checks, &mut diagnostics));
    }
    let sources = parsed.iter().map(|(path, file)| emit::source(path, file.as_ref())).collect();
    sort(&mut diagnostics);
    let draft = emit::bundle(sources, parts, wired.edges, wired.acyclic, &diagnostics);
    finish(draft, diagnostics, texts)
}

/// A bundle is only given out when nothing is wrong, and after the manifest's own rules had a say.
fn finish(
    draft: prose_ir::Bundle,
    mut diagnostics: Vec<Diagnostic>,
    sources: BTreeMap<String, String>,
) -> Compilation {
    let manifest = draft.manifest.clone();
    let mut bundle = None;
    if !diagnostics.iter().any(Diagnostic::is_error) {
        match draft.check() {
            Ok(()) => bundle = Some(draft),
            Err(error) => {
                diagnostics.push(Diagnostic::whole(Code::ManifestInvalid, "", error.to_string()));
            }
        }
    }
    Compilation { bundle, draft: manifest, diagnostics, sources }
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

/// The mounted nodes in order of source; the first of two with one name stays.
fn nodes<'a>(files: &[&'a File], diagnostics: &mut Vec<Diagnostic>) -> Vec<Node<'a>> {
    let mut nodes = Vec::new();
    let mut seen: BTreeMap<&str, &File> = BTreeMap::new();
    for file in files.iter().copied() {
        for entry in std::iter::once(&file.entry).chain(&file.inline) {
            let name = entry.name.value.as_str();
            if !entry.kind.is_some_and(Kind::is_node) || name.is_empty() {
                continue;
            }
            let unit = Unit { file, entry };
            if let Some(first) = seen.insert(name, file) {
                seen.insert(name, first);
                let message =
                    format!("a node named `{name}` is declared in {} already", first.path);
                diagnostics.push(unit.diagnostic(
                    Code::NameDuplicate,
                    entry.name.span.clone(),
                    message,
                ));
                continue;
            }
            nodes.push(Node { unit, maintains: maintains::lower(unit) });
        }
    }
    nodes
}

/// Facets that somebody subscribes to and nothing tells how to fingerprint.
fn unbacked(nodes: &[Node], edges: &[Edge], diagnostics: &mut Vec<Diagnostic>) {
    let subscribed: std::collections::HashSet<(&str, &str)> =
        edges.iter().map(|e| (e.producer.as_str(), e.facet.as_str())).collect();
    for node in nodes {
        for facet in &node.maintains.facets {
            if subscribed.contains(&(node.unit.name(), facet.name)) && !facet.is_backed() {
                let message = format!(
                    "the facet `{}` is subscribed to, but nothing says what is material in it",
                    facet.name
                );
                let found =
                    node.unit.diagnostic(Code::FacetUnbacked, facet.heading.span.clone(), message);
                diagnostics
                    .push(found.help("name its fields in backticks, or say what is material"));
            }
        }
    }
}

/// The conditions of each node. All expressions are checked in one go.
fn judge(nodes: &[Node], diagnostics: &mut Vec<Diagnostic>) -> Vec<Vec<Check>> {
    let conditions: Vec<Vec<_>> = nodes.iter().map(|n| postconditions::lower(n.unit)).collect();
    let expressions =
        conditions.iter().flatten().filter_map(|c| c.expression).map(str::to_owned).collect();
    let mut verdicts = cel::check(expressions).into_iter();
    let mut judged = Vec::with_capacity(nodes.len());
    for (node, conditions) in nodes.iter().zip(conditions) {
        let mut checks = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let mut check = condition.check;
            if let Some(expression) = condition.expression {
                match verdicts.next() {
                    Some(Ok(())) => check.judge = Judge::Cel(expression.to_owned()),
                    Some(Err(why)) => {
                        let message =
                            format!("`{}` cannot be decided by code: {why}", shortened(expression));
                        let found = node.unit.diagnostic(
                            Code::PostconditionInvalid,
                            condition.prose.span.clone(),
                            message,
                        );
                        diagnostics.push(found.help("the render attests it instead"));
                    }
                    None => {}
                }
            }
            checks.push(check);
        }
        judged.push(checks);
    }
    judged
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

/// What it takes to lower one node once everything around it is known.
struct Lowering<'l, 'a> {
    host: &'l Host,
    functions: &'l Functions<'a>,
    fingerprints: &'l Fingerprints<'l, 'a>,
    texts: &'l BTreeMap<String, String>,
}

impl Lowering<'_, '_> {
    fn node(
        &self,
        node: &Node,
        needs: Vec<Need>,
        checks: Vec<Check>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> NodeParts {
        let unit = node.unit;
        let callees = self.functions.callees(unit, diagnostics);
        let called = self.functions.closure(&callees);
        let mut offered = capabilities::lower(unit, self.host, diagnostics);
        offered.add(&self.functions.capabilities(&called));
        let continuity = continuity::lower(unit, diagnostics);
        let wake_source = continuity.wake_source();
        let contract = Contract {
            version: ARTIFACT_VERSION,
            node: unit.name().to_owned(),
            kind: if unit.entry.kind == Some(Kind::Gateway) {
                NodeKind::Gateway
            } else {
                NodeKind::Responsibility
            },
            contract_fingerprint: self.fingerprints.of(unit, &callees),
            path: unit.file.path.clone(),
            text: functions::text(unit, self.texts),
            goal: goal(unit),
            fields: node.maintains.fields.clone(),
            facets: node.maintains.facets.iter().map(|f| f.name.to_owned()).collect(),
            needs,
            wake_modes: continuity.modes,
            cadences: continuity.cadences,
            execution: functions::has_execution(unit.entry),
            routes: gateway::routes(unit),
            tools: offered.tools,
            skills: offered.skills,
            environment: offered.environment,
            runtime: offered.runtime,
            functions: self.functions.texts(&called, self.texts),
        };
        NodeParts {
            canonicalizer: maintains::canonicalizer(unit, &node.maintains, diagnostics),
            postconditions: Postconditions {
                version: ARTIFACT_VERSION,
                node: unit.name().to_owned(),
                structure: structure(node),
                checks,
            },
            contract,
            wake_source,
        }
    }
}

fn structure(node: &Node) -> Structure {
    let mut regions = Vec::new();
    for facet in node.maintains.facets.iter().filter(|f| f.name != ATOMIC) {
        let region = facet.region().to_owned();
        if !regions.contains(&region) {
            regions.push(region);
        }
    }
    Structure { facets: regions, fields: node.maintains.required.clone() }
}

fn goal(unit: Unit) -> Option<String> {
    let prose = unit.entry.sections(SectionKind::Goal).flat_map(Section::prose);
    let text: Vec<&str> = prose.map(|p| p.text.as_str()).collect();
    (!text.is_empty()).then(|| text.join(" "))
}
