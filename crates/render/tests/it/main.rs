//! Renders from the lease to the commit, with shell scripts as sessions.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod harnesses;
mod session;
mod task;

use std::collections::BTreeMap;

use prose_api::v1::{self, commit_request::Outcome};
use prose_ir::{Contract, Fingerprint, Need, NodeKind, Slot, Tool, ToolKind, Wiring};
use prose_render::{HarnessSpec, Harnesses, JqCommand, RenderOptions, Renderer};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

fn files(files: &[(&str, &str)]) -> v1::Files {
    let file = |(path, text): &(&str, &str)| ((*path).to_owned(), text.to_string().into());
    v1::Files { files: files.iter().map(file).collect() }
}

fn need(name: &str, slots: &[(&str, &str)]) -> Need {
    let slot = |(producer, facet): &(&str, &str)| Slot {
        producer: (*producer).to_owned(),
        facet: (*facet).to_owned(),
        wiring: Wiring::Named,
    };
    Need {
        name: name.to_owned(),
        text: format!("the {name}"),
        context: false,
        optional: true,
        slots: slots.iter().map(slot).collect(),
    }
}

fn pin(need: &str, producer: &str, facet: &str, tree: Option<v1::Files>) -> v1::PinnedInput {
    let published = |text: &str| tree.as_ref().map(|_| text.to_owned()).unwrap_or_default();
    v1::PinnedInput {
        need: need.to_owned(),
        producer: producer.to_owned(),
        facet: facet.to_owned(),
        fingerprint: published("blake3:f"),
        receipt: published("blake3:r"),
        files: tree,
    }
}

fn contract() -> Contract {
    Contract {
        version: 1,
        node: "brief".to_owned(),
        kind: NodeKind::Responsibility,
        contract_fingerprint: Fingerprint::of(b"x"),
        path: "brief.prose.md".to_owned(),
        text: "# Brief\n".to_owned(),
        goal: None,
        fields: Vec::new(),
        facets: vec!["summary".to_owned(), "user:<login>".to_owned()],
        needs: vec![
            need("news", &[("watch", "funding"), ("watch", "pricing")]),
            need("views", &[("left", "@atomic"), ("right", "@atomic")]),
        ],
        wake_modes: Vec::new(),
        cadences: Vec::new(),
        execution: true,
        routes: Vec::new(),
        tools: vec![Tool { kind: ToolKind::Cli, name: "git".to_owned() }],
        skills: Vec::new(),
        environment: vec!["API_KEY".to_owned()],
        runtime: BTreeMap::new(),
        functions: BTreeMap::from([("score".to_owned(), "# Score\n".to_owned())]),
    }
}

fn lease() -> v1::Lease {
    v1::Lease {
        reactor: "tests".to_owned(),
        node: "brief".to_owned(),
        fence: 7,
        lease_ms: 30_000,
        contract: serde_json::to_vec(&contract()).unwrap().into(),
        attest: vec![v1::Attestation { id: "c2".to_owned(), text: "it is fair".to_owned() }],
        inputs: vec![
            pin("news", "watch", "funding", Some(files(&[("funding/truth.json", "{}")]))),
            pin("news", "watch", "pricing", None),
            pin("views", "left", "@atomic", Some(files(&[("truth.json", r#"{"v":1}"#)]))),
            pin("views", "right", "@atomic", None),
        ],
        prior: None,
        events: Vec::new(),
        wake_source: "input".to_owned(),
        surprise: "contract".to_owned(),
        wake_refs: vec!["blake3:w".to_owned()],
        as_of: "2026-01-02T03:04:05.678Z".to_owned(),
        attempt: 3,
    }
}

/// Any lease's harness is `sh -c script`.
fn scripted(script: &str) -> Harnesses {
    let command = HarnessSpec::Command {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned()],
        model: Some("configured".to_owned()),
        base: "/".into(),
    };
    Harnesses { default: Some(command), nodes: BTreeMap::new(), jq: no_jq() }
}

fn no_jq() -> JqCommand {
    JqCommand { executable: "/nowhere/prose".into(), args: vec!["jq-session".to_owned()] }
}

fn options(scratch: &TempDir) -> RenderOptions {
    let variables = [("API_KEY", "s3cret".to_owned()), ("PATH", std::env::var("PATH").unwrap())];
    RenderOptions {
        scratch: scratch.path().to_owned(),
        environment: variables.map(|(name, value)| (name.to_owned(), value)).into(),
        ..RenderOptions::default()
    }
}

/// Renders, and asserts that no folder is left.
async fn render(lease: v1::Lease, harnesses: &Harnesses) -> v1::CommitRequest {
    let scratch = tempfile::tempdir().unwrap();
    let renderer = Renderer::new(options(&scratch), harnesses);
    let commit = renderer.render(lease, CancellationToken::new()).await;
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    commit
}

fn infrastructure(commit: v1::CommitRequest) -> String {
    match commit.outcome {
        Some(Outcome::Infrastructure(failure)) => failure.reason,
        other => panic!("{other:?}"),
    }
}
