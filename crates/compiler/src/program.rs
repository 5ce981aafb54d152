//! The compile itself: sources in, bundle and diagnostics out. No I/O but what the host is asked.

use std::collections::{BTreeMap, HashMap, hash_map::Entry};

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
    lower::{
        Unit, capabilities, continuity, gateway,
        maintains::{self, Maintains},
        postconditions,
    },
    wire::{self, Node},
};

pub(crate) fn compile(
    sources: &BTreeMap<String, Vec<u8>>,
    host: &Host,
    mut diagnostics: Vec<Diagnostic>,
) -> Compilation {
    let mut parsed = Vec::with_capacity(sources.len());
    for (path, bytes) in sources {
        let Parsed { text, file, diagnostics: found } = prose_contract::parse(path, bytes);
        diagnostics.extend(found);
        parsed.push((path, text, file));
    }
    let files = parsed.iter().filter_map(|(_, text, file)| Some((file.as_ref()?, text)));
    let units: Vec<Unit> = files.flat_map(|(file, text)| Unit::all(file, text)).collect();
    let functions = Functions::collect(&units, host, &mut diagnostics);
    let mut nodes = nodes(&units, &mut diagnostics);
    let mut by_name: Vec<usize> = (0..nodes.len()).collect();
    by_name.sort_unstable_by_key(|at| nodes[*at].unit.name());
    let wired = wire::wire(&nodes, &by_name, &mut diagnostics);
    unbacked(&nodes, &wired.edges, &mut diagnostics);
    let checks = judge(&nodes, &mut diagnostics);
    let mut lowering =
        Lowering { host, functions: &functions, fingerprints: Fingerprints::new(&functions) };
    let mut parts = Vec::with_capacity(nodes.len());
    for ((node, needs), checks) in nodes.drain(..).zip(wired.needs).zip(checks) {
        parts.push(Some(lowering.node(node, needs, checks, &mut diagnostics)));
    }
    sort(&mut diagnostics);
    let mut texts = Vec::with_capacity(parsed.len());
    let mut records = Vec::with_capacity(parsed.len());
    for (path, text, file) in parsed {
        records.push(emit::source(path.clone(), file));
        texts.push((path.clone(), text));
    }
    // The parts are large: they are picked in order of name and not moved about by a sort.
    let named: Vec<NodeParts> = by_name.iter().filter_map(|at| parts[*at].take()).collect();
    let draft = emit::bundle(records, named.into_iter(), wired.edges, wired.acyclic, &diagnostics);
    finish(draft, diagnostics, texts.into_iter().collect())
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
fn nodes<'a>(units: &[Unit<'a>], diagnostics: &mut Vec<Diagnostic>) -> Vec<Node<'a>> {
    let mut nodes = Vec::with_capacity(units.len());
    let mut seen: HashMap<&str, &File> = HashMap::with_capacity(units.len());
    for unit in units.iter().copied() {
        let name = unit.name();
        if !unit.entry.kind.is_some_and(Kind::is_node) || name.is_empty() {
            continue;
        }
        match seen.entry(name) {
            Entry::Occupied(first) => {
                let message =
                    format!("a node named `{name}` is declared in {} already", first.get().path);
                let span = unit.entry.name.span.clone();
                diagnostics.push(unit.diagnostic(Code::NameDuplicate, span, message));
            }
            Entry::Vacant(free) => {
                free.insert(unit.file);
                nodes.push(Node { unit, maintains: maintains::lower(unit) });
            }
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
    fingerprints: Fingerprints<'l, 'a>,
}

impl Lowering<'_, '_> {
    fn node(
        &mut self,
        node: Node,
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
        let canonicalizer = maintains::canonicalizer(unit, &node.maintains, diagnostics);
        let names = node.maintains.facets.iter().map(|f| f.name.to_owned()).collect();
        let regions = regions(&node);
        let Maintains { fields, required, .. } = node.maintains;
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
            text: unit.text(),
            goal: goal(unit),
            fields,
            facets: names,
            needs,
            wake_modes: continuity.modes,
            cadences: continuity.cadences,
            execution: functions::has_execution(unit.entry),
            routes: gateway::routes(unit),
            tools: offered.tools,
            skills: offered.skills,
            environment: offered.environment,
            runtime: offered.runtime,
            functions: self.functions.texts(&called),
        };
        NodeParts {
            canonicalizer,
            postconditions: Postconditions {
                version: ARTIFACT_VERSION,
                node: unit.name().to_owned(),
                structure: Structure { facets: regions, fields: required },
                checks,
            },
            contract,
            wake_source,
        }
    }
}

/// The keys of the truth under which its facets stand.
fn regions(node: &Node) -> Vec<String> {
    let mut regions: Vec<String> = Vec::new();
    for facet in node.maintains.facets.iter().filter(|f| f.name != ATOMIC) {
        let region = facet.region();
        if !regions.iter().any(|r| r == region) {
            regions.push(region.to_owned());
        }
    }
    regions
}

fn goal(unit: Unit) -> Option<String> {
    let prose = unit.entry.sections(SectionKind::Goal).flat_map(Section::prose);
    let text: Vec<&str> = prose.map(|p| p.text.as_str()).collect();
    (!text.is_empty()).then(|| text.join(" "))
}
