//! Functions: who calls whom, and what that makes a caller depend on.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use prose_contract::{Code, Diagnostic, Entry, Kind, SectionKind};

use crate::{
    Host,
    lower::{
        Unit, calls,
        capabilities::{self, Capabilities},
    },
};

/// Position of a function.
pub(crate) type FunctionId = usize;

/// Every function of the source set, and the calls between them.
#[derive(Default)]
pub(crate) struct Functions<'a> {
    pub(crate) units: Vec<Unit<'a>>,
    callees: Vec<Vec<FunctionId>>,
    capabilities: Vec<Capabilities>,
    /// Functions of whole files, for all.
    project: HashMap<&'a str, FunctionId>,
    /// Functions of `##` entries, for their file alone.
    local: HashMap<(&'a str, &'a str), FunctionId>,
    /// Other names a `call` may use: pattern slots and instances, per file.
    bound: HashMap<&'a str, BTreeSet<String>>,
}

impl<'a> Functions<'a> {
    /// To be called once every entry is added.
    pub(crate) fn connect(&mut self, host: &Host, diagnostics: &mut Vec<Diagnostic>) {
        for unit in &self.units {
            self.capabilities.push(capabilities::lower(*unit, host, diagnostics));
        }
        self.callees = self.units.iter().map(|unit| self.callees(*unit, diagnostics)).collect();
    }

    /// Takes up the names that an entry of the file at `path` binds.
    pub(crate) fn bind(&mut self, path: &'a str, entry: &Entry) {
        let bound = calls::bound(entry);
        if !bound.is_empty() {
            self.bound.entry(path).or_default().extend(bound);
        }
    }

    /// Takes up an entry, if it is a function.
    pub(crate) fn add(&mut self, unit: Unit<'a>) {
        if unit.entry.kind != Some(Kind::Function) {
            return;
        }
        let id = self.units.len();
        self.units.push(unit);
        if unit.entry.inline {
            self.local.entry((&unit.file.path, unit.name())).or_insert(id);
        } else {
            self.project.entry(unit.name()).or_insert(id);
        }
    }

    /// The functions that a render body calls, in order of first call.
    pub(crate) fn callees(&self, unit: Unit, diagnostics: &mut Vec<Diagnostic>) -> Vec<FunctionId> {
        let mut callees = Vec::new();
        for call in calls::fenced(unit.entry) {
            match self.find(unit, &call.callee) {
                Some(id) => callees.push(id),
                None if self.is_bound(unit, &call.callee) => {}
                None => {
                    let message =
                        format!("`{}` is no function of this file or project", call.callee);
                    diagnostics.push(unit.diagnostic(Code::CallUnresolved, call.span, message));
                }
            }
        }
        callees.extend(
            calls::mentioned(unit.entry).into_iter().filter_map(|name| self.find(unit, name)),
        );
        let mut seen = BTreeSet::new();
        callees.retain(|id| seen.insert(*id));
        callees
    }

    fn find(&self, unit: Unit, name: &str) -> Option<FunctionId> {
        let local = self.local.get(&(unit.file.path.as_str(), name));
        local.or_else(|| self.project.get(name)).copied()
    }

    fn is_bound(&self, unit: Unit, name: &str) -> bool {
        self.bound.get(unit.file.path.as_str()).is_some_and(|names| names.contains(name))
    }

    /// Everything called from `callees`, directly or not, in a stable order.
    pub(crate) fn closure(&self, callees: &[FunctionId]) -> BTreeSet<FunctionId> {
        let mut reached = BTreeSet::new();
        let mut open = callees.to_vec();
        while let Some(id) = open.pop() {
            if reached.insert(id) {
                open.extend(&self.callees[id]);
            }
        }
        reached
    }

    /// What a set of functions needs of its host.
    pub(crate) fn capabilities(&self, ids: &BTreeSet<FunctionId>) -> Capabilities {
        let mut all = Capabilities::default();
        for id in ids {
            all.add(&self.capabilities[*id]);
        }
        all
    }

    /// The authored texts of a set of functions by name. A file-level function of the same name
    /// as an inline one is told apart by its file.
    pub(crate) fn texts(&self, ids: &BTreeSet<FunctionId>) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        for id in ids {
            let unit = self.units[*id];
            let mut name = unit.name().to_owned();
            if texts.contains_key(&name) {
                name = format!("{name} ({})", unit.file.path);
            }
            texts.insert(name, unit.text());
        }
        texts
    }
}

/// Whether an entry declares a render body.
pub(crate) fn has_execution(entry: &Entry) -> bool {
    entry.sections(SectionKind::Execution).any(|s| !s.blocks.is_empty())
}
