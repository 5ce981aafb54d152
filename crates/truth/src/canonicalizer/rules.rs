//! The rules of one region, checked and indexed.

use std::collections::{BTreeMap, BTreeSet};

use prose_ir::{Rule, RuleKind};

use super::CanonicalizerError;

/// What counts in a region, and what makes values equal there.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    immaterial: BTreeSet<String>,
    only: Option<BTreeSet<String>>,
    everywhere: Mode,
    fields: BTreeMap<String, FieldRules>,
}

/// How values are read at some place; inherited by what lies deeper.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Mode {
    pub(super) quantum: Option<f64>,
    pub(super) case_insensitive: bool,
    pub(super) exact: bool,
    /// Whether arrays at this place are sets.
    pub(super) unordered: bool,
    /// Whether every array of the region is a set.
    unordered_everywhere: bool,
}

#[derive(Debug, Clone, Default)]
struct FieldRules {
    quantum: Option<f64>,
    case_insensitive: bool,
    exact: bool,
    unordered: bool,
}

impl Rules {
    pub(super) fn new<'a>(
        immaterial: impl Iterator<Item = &'a String>,
        only: Option<&[String]>,
        rules: &[Rule],
    ) -> Result<Self, CanonicalizerError> {
        let mut everywhere = FieldRules::default();
        let mut fields: BTreeMap<String, FieldRules> = BTreeMap::new();
        for rule in rules {
            match &rule.field {
                None => everywhere.add(&rule.kind)?,
                Some(field) => fields.entry(field.clone()).or_default().add(&rule.kind)?,
            }
        }
        let unordered_everywhere = everywhere.unordered;
        Ok(Self {
            immaterial: immaterial.cloned().collect(),
            only: only.map(|names| names.iter().cloned().collect()),
            everywhere: Mode { unordered_everywhere, ..everywhere.within(Mode::default()) },
            fields,
        })
    }

    pub(super) fn is_immaterial(&self, member: &str) -> bool {
        self.immaterial.contains(member)
    }

    pub(super) fn only(&self) -> Option<&BTreeSet<String>> {
        self.only.as_ref()
    }

    /// How the region itself is read.
    pub(super) fn top(&self) -> Mode {
        self.everywhere
    }

    /// How the member `name` is read where its object is read in `mode`.
    pub(super) fn at_member(&self, name: &str, mode: Mode) -> Mode {
        let mode = Mode { unordered: mode.unordered_everywhere, ..mode };
        match self.fields.get(name) {
            Some(rules) => rules.within(mode),
            None => mode,
        }
    }
}

impl FieldRules {
    fn add(&mut self, kind: &RuleKind) -> Result<(), CanonicalizerError> {
        match *kind {
            RuleKind::Unordered => self.unordered = true,
            RuleKind::Quantum(quantum) if quantum.is_finite() && quantum > 0.0 => {
                self.quantum = Some(quantum);
            }
            RuleKind::Quantum(quantum) => return Err(CanonicalizerError::Quantum(quantum)),
            RuleKind::CaseInsensitive => self.case_insensitive = true,
            RuleKind::Exact => self.exact = true,
        }
        Ok(())
    }

    /// The nearest rule wins: an exact member switches off what holds around it, and a
    /// normalization declared for a member inside switches that on again.
    fn within(&self, outer: Mode) -> Mode {
        let scalars = if self.exact {
            Mode { exact: true, ..Mode::default() }
        } else {
            Mode {
                quantum: self.quantum.or(outer.quantum),
                case_insensitive: self.case_insensitive || outer.case_insensitive,
                exact: outer.exact && self.quantum.is_none() && !self.case_insensitive,
                unordered: outer.unordered,
                unordered_everywhere: outer.unordered_everywhere,
            }
        };
        Mode { unordered: scalars.unordered || self.unordered, ..scalars }
    }
}
