//! Renders from the work to the report, with shell scripts as sessions.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::collections::BTreeMap;
use std::ffi::OsString;

use prose_harness::{Attest, Command, Limits, Wake};
use prose_ir::{Contract, Fingerprint, Need, NodeKind, Slot, Tool, ToolKind, Wiring};
use prose_render::{Pinned, Renderer, Report, Verdict, Work, WorkError};
use prose_truth::{Files, TreePath};
use tokio_util::sync::CancellationToken;

fn files(files: &[(&str, &str)]) -> Files {
    let file = |(path, text): &(&str, &str)| (TreePath::new(path).unwrap(), text.as_bytes().into());
    files.iter().map(file).collect()
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

fn pin(need: &str, producer: &str, facet: &str, tree: &[(&str, &str)]) -> Pinned {
    Pinned {
        need: need.to_owned(),
        producer: producer.to_owned(),
        facet: facet.to_owned(),
        fingerprint: Some("blake3:f".to_owned()),
        receipt: Some("blake3:r".to_owned()),
        files: Some(files(tree)),
    }
}

fn work() -> Work {
    let check = |id: &str, judge| Check { id: id.to_owned(), text: format!("check {id}"), judge };
    Work {
        reactor: "tests".to_owned(),
        contract: Contract {
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
            functions: BTreeMap::new(),
        },
        attest: vec![Attest { id: "c2".to_owned(), text: "c2 holds".to_owned() }],
        wake: Wake { source: "input".to_owned(), refs: Vec::new(), cause: "input".to_owned() },
        as_of: "2026-01-02T03:04:05.678Z".to_owned(),
        pins: vec![
            pin(
                "news",
                "watch",
                "funding",
                &[("truth.json", r#"{"n":1}"#), ("funding/truth.json", "{}")],
            ),
            pin("views", "left", "@atomic", &[("truth.json", r#"{"v":1}"#)]),
        ],
        prior: Files::new(),
        events: Vec::new(),
        answers: BTreeMap::new(),
    }
}

async fn render(work: &Work, script: &str, variables: &[(&str, &str)]) -> Report {
    let parent = tempfile::tempdir().unwrap();
    let path = ("PATH".into(), std::env::var_os("PATH").unwrap());
    let given = variables.iter().map(|(name, value)| (OsString::from(name), value.into()));
    let renderer = Renderer {
        folder: parent.path().to_owned(),
        host: given.chain([path]).collect(),
        limits: Limits::default(),
    };
    let harness = Command {
        program: "sh".into(),
        args: ["-c", script].map(OsString::from).to_vec(),
        base: "/".into(),
        model: Some("configured".to_owned()),
    };
    renderer.render(work, &harness, CancellationToken::new()).await
}

const KEY: [(&str, &str); 1] = [("API_KEY", "s3cret")];

#[test]
fn a_task_holds_what_the_node_subscribes_to_and_no_more() {
    let spec = work().task(&Limits::default()).unwrap();
    let [news, views] = &spec.inputs[..] else { panic!("two needs") };
    assert!(!news.fan_in && views.fan_in);
    assert_eq!(news.sources[0].files, Some(files(&[("funding/truth.json", "{}")])));
    assert_eq!(news.sources[1].files, None);
    assert_eq!(views.sources[1].files, None);
    let attest: Vec<_> = spec.attest.iter().map(|check| check.id.as_str()).collect();
    assert_eq!(attest, ["c2"]);
    assert_eq!(spec.tools, ["cli:git"]);
    assert_eq!(spec.facets, ["summary", "user"]);
}

#[test]
fn pins_that_do_not_fit_are_told() {
    let mut stray = work();
    stray.pins[0].need = "other".to_owned();
    let error = stray.task(&Limits::default()).unwrap_err();
    assert!(matches!(error, WorkError::UnknownNeed(need) if need == "other"));
    let mut broken = work();
    broken.pins[0].files = Some(files(&[("truth.json", "{")]));
    let error = broken.task(&Limits::default()).unwrap_err();
    assert!(matches!(error, WorkError::Input { producer, .. } if producer == "watch"));
}

#[tokio::test]
async fn a_good_session_becomes_a_truth_with_its_cost() {
    let script = r#"cat inputs/views/left/truth.json > published/truth.json
        echo '{"status": "rendered", "attestations": {"c2": true}, "diff": "new",
               "usage": {"fresh_tokens": 7, "reused_tokens": 2}}' > result.json"#;
    let report = render(&work(), script, &KEY).await;
    let Verdict::Rendered { files: truth, attestations, diff } = report.verdict else {
        panic!("{report:?}")
    };
    assert_eq!(truth, files(&[("truth.json", r#"{"v":1}"#)]));
    assert!(attestations["c2"]);
    assert_eq!(diff.as_deref(), Some("new"));
    assert_eq!((report.cost.fresh_tokens, report.cost.reused_tokens), (7, 2));
    assert_eq!(report.cost.harness, "command");
    assert_eq!(report.cost.model.as_deref(), Some("configured"));
}

#[tokio::test]
async fn failures_keep_their_kind() {
    let script =
        r#"echo '{"status": "failed", "reason": "login", "needs": "a key"}' > result.json"#;
    let report = render(&work(), script, &KEY).await;
    let failed = Verdict::Failed { reason: "login".to_owned(), needs: Some("a key".into()) };
    assert_eq!(report.verdict, failed);

    let infrastructure = |report: Report| match report.verdict {
        Verdict::Infrastructure(why) => (why.code, why.reason),
        other => panic!("{other:?}"),
    };
    let (code, reason) = infrastructure(render(&work(), "echo $API_KEY; exit 4", &KEY).await);
    assert_eq!(code, "exit_code");
    let shown = "the session ended with exit code 4; the session's last output:\n[API_KEY]";
    assert_eq!(reason, shown);

    let (code, reason) = infrastructure(render(&work(), "exit 0", &[]).await);
    assert_eq!(code, "environment_missing");
    assert_eq!(reason, "the worker's environment has no value for API_KEY");

    let mut broken = work();
    broken.pins[0].files = Some(files(&[("truth.json", "{")]));
    let (code, reason) = infrastructure(render(&broken, "exit 0", &KEY).await);
    assert_eq!(code, "task_unreadable");
    assert!(reason.starts_with("the pinned truth of `watch` for need `news`: `truth.json`:"));
}
