//! The mounted nodes, each lowered as far as its own contract goes.

use std::{
    collections::{HashMap, hash_map::Entry},
    ops::Range,
};

use prose_contract::{Code, Diagnostic, Kind, Section, SectionKind};
use prose_ir::{ARTIFACT_VERSION, ATOMIC, Contract, NodeKind, Postconditions, Structure};

use crate::{
    Host,
    emit::NodeParts,
    fingerprint, functions,
    lower::{
        Unit, capabilities, continuity, gateway,
        maintains::{self, Maintains},
        postconditions,
    },
};

/// The mounted nodes in order of source; the first of two with one name stays.
pub(crate) struct Mounted<'a> {
    /// Where each node stands, and what it maintains.
    pub(crate) places: Vec<(Place, Maintains)>,
    /// What is known of each node before anything around it is.
    pub(crate) parts: Vec<NodeParts>,
    /// The conditions that may be for code to judge.
    pub(crate) asked: Vec<Asked>,
    /// Names, and the paths of their files.
    seen: HashMap<String, &'a str>,
    /// Room for the text of which a fingerprint is made.
    text: String,
}

/// Position of a file, and of an entry among those of the file.
pub(crate) type Place = (usize, usize);

/// A condition that holds an expression.
pub(crate) struct Asked {
    /// Position of the node.
    pub(crate) node: usize,
    /// Position among the checks of the node.
    pub(crate) check: usize,
    pub(crate) expression: String,
    /// Where the condition stands.
    pub(crate) span: Range<usize>,
}

impl<'a> Mounted<'a> {
    /// Room for about as many nodes as there are files: the parts are too large to be moved often.
    pub(crate) fn with_capacity(nodes: usize) -> Self {
        Self {
            places: Vec::with_capacity(nodes),
            parts: Vec::with_capacity(nodes),
            asked: Vec::new(),
            seen: HashMap::with_capacity(nodes),
            text: String::new(),
        }
    }

    /// Takes up an entry of the file at `path`, if it is a node. Nothing of it stays borrowed.
    pub(crate) fn add(
        &mut self,
        path: &'a str,
        place: Place,
        unit: Unit,
        host: &Host,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let name = unit.name();
        if !unit.entry.kind.is_some_and(Kind::is_node) || name.is_empty() {
            return;
        }
        match self.seen.entry(name.to_owned()) {
            Entry::Occupied(first) => {
                let message =
                    format!("a node named `{name}` is declared in {} already", first.get());
                let span = unit.entry.name.span.clone();
                diagnostics.push(unit.diagnostic(Code::NameDuplicate, span, message));
            }
            Entry::Vacant(free) => {
                free.insert(path);
                let maintains = self.lower(unit, host, diagnostics);
                self.places.push((place, maintains));
            }
        }
    }

    fn lower(&mut self, unit: Unit, host: &Host, diagnostics: &mut Vec<Diagnostic>) -> Maintains {
        let mut maintains = maintains::lower(unit);
        let offered = capabilities::lower(unit, host, diagnostics);
        let continuity = continuity::lower(unit, diagnostics);
        let wake_source = continuity.wake_source();
        let canonicalizer = maintains::canonicalizer(unit, &maintains, diagnostics);
        let contract = Contract {
            version: ARTIFACT_VERSION,
            node: unit.name().to_owned(),
            kind: if unit.entry.kind == Some(Kind::Gateway) {
                NodeKind::Gateway
            } else {
                NodeKind::Responsibility
            },
            contract_fingerprint: fingerprint::alone(unit, &mut self.text),
            path: unit.file.path.clone(),
            text: unit.text(),
            goal: goal(unit),
            // Wiring has a use for them first.
            fields: Vec::new(),
            facets: maintains.facets.iter().map(|f| f.name.clone()).collect(),
            needs: Vec::new(),
            wake_modes: continuity.modes,
            cadences: continuity.cadences,
            execution: functions::has_execution(unit.entry),
            routes: gateway::routes(unit),
            tools: offered.tools,
            skills: offered.skills,
            environment: offered.environment,
            runtime: offered.runtime,
            functions: Default::default(),
        };
        let fields = std::mem::take(&mut maintains.required);
        let postconditions = Postconditions {
            version: ARTIFACT_VERSION,
            node: unit.name().to_owned(),
            structure: Structure { facets: regions(&maintains), fields },
            checks: self.checks(unit),
        };
        self.parts.push(NodeParts { contract, canonicalizer, postconditions, wake_source });
        maintains
    }

    /// The conditions of a node; those with an expression are kept to be asked about.
    fn checks(&mut self, unit: Unit) -> Vec<prose_ir::Check> {
        let node = self.places.len();
        let conditions = postconditions::lower(unit).into_iter().enumerate();
        let checks = conditions.map(|(check, condition)| {
            let asked = condition.expression.map(|expression| Asked {
                node,
                check,
                expression: expression.to_owned(),
                span: condition.prose.span.clone(),
            });
            self.asked.extend(asked);
            condition.check
        });
        checks.collect()
    }
}

/// The keys of the truth under which its facets stand.
fn regions(maintains: &Maintains) -> Vec<String> {
    let mut regions: Vec<String> = Vec::new();
    for facet in maintains.facets.iter().filter(|f| f.name != ATOMIC) {
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
