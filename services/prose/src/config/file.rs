//! The file as it is written; unknown keys are found before it is read into this.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    pub reactor: Option<String>,
    pub source: Option<String>,
    pub run: Run,
    pub limits: Limits,
    pub listen: Listen,
    pub sign: Sign,
    pub harness: BTreeMap<String, Harness>,
    pub defaults: Defaults,
    pub nodes: BTreeMap<String, Node>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Run {
    pub concurrency: Option<usize>,
    pub lease: Option<String>,
    pub attempts: Option<u32>,
    pub backoff: Option<String>,
    pub backoff_max: Option<String>,
    pub patience: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Limits {
    pub deadline: Option<String>,
    pub grace: Option<String>,
    pub output_bytes: Option<u64>,
    pub published_files: Option<usize>,
    pub published_bytes: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Listen {
    pub tcp: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Sign {
    pub enabled: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Harness {
    pub kind: Kind,
    pub program: Option<String>,
    #[serde(default)]
    pub args: Vec<String>,
    pub model: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Command,
    Jq,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Defaults {
    pub harness: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Node {
    pub harness: Option<String>,
    pub jq: Option<String>,
}
