//! The compiled canonicalization spec of one node (`dist/canonicalizers/<node>.json`).

use serde::{Deserialize, Serialize};

/// What equality means for a node's truth.
///
/// The truth reads as one JSON document: the shared fields, plus one key for each facet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Canonicalizer {
    /// Always [`crate::ARTIFACT_VERSION`].
    pub version: u32,
    /// The node.
    pub node: String,
    /// Member names that are dropped wherever they occur, shared fields and facets alike.
    #[serde(default)]
    pub immaterial: Vec<String>,
    /// Normalizations of the shared fields (everything outside a facet's region).
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// The declared facets in order of declaration; the whole truth is not listed.
    #[serde(default)]
    pub facets: Vec<FacetSpec>,
}

/// One declared facet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FacetSpec {
    /// Its name as declared: `funding`, or `user:<login>` for a family.
    pub name: String,
    /// For a family the key of its region (`user`); each key inside is a member, and its facet is
    /// named `user:<key>`. `None` for a plain facet, whose region is the key `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// When present, only members with these names count: such a member is taken whole, others are
    /// kept only as far as they contain one. When absent, everything is material.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// Member names dropped inside this facet, besides those dropped everywhere.
    #[serde(default)]
    pub immaterial: Vec<String>,
    /// Normalizations inside this facet.
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// One normalization.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The member it applies to, at any depth; `None` for every value of the region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What it does.
    pub kind: RuleKind,
}

/// How values are made equal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// Arrays are sets: order and repetition do not count.
    Unordered,
    /// Numbers are rounded to the nearest multiple, halves away from zero. Positive and finite.
    Quantum(f64),
    /// Text is compared without case.
    CaseInsensitive,
    /// Nothing is normalized, not even white space in text.
    Exact,
}
