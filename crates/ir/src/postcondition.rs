//! The compiled postconditions of one node (`dist/postconditions/<node>.json`).

use serde::{Deserialize, Serialize};

/// What must hold of a truth before it is published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Postconditions {
    /// Always [`crate::ARTIFACT_VERSION`].
    pub version: u32,
    /// The node.
    pub node: String,
    /// Checked first, always, by code.
    pub structure: Structure,
    /// The author's conditions, in order of declaration.
    #[serde(default)]
    pub checks: Vec<Check>,
}

/// The parts a truth must have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Structure {
    /// Declared facets (families by the key of their region): each must be a key of the document.
    #[serde(default)]
    pub facets: Vec<String>,
    /// Declared shared fields: each must be a key of the document.
    #[serde(default)]
    pub fields: Vec<String>,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Stable under re-wrapping: derived from the normalized text.
    pub id: String,
    /// The condition in the author's words.
    pub text: String,
    /// Who decides it.
    pub judge: Judge,
}

/// Who decides a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// A CEL expression over `self`, `prior` and `inputs` that yields a boolean.
    Cel(String),
    /// The render, in its result, under the check's id.
    Render,
}
