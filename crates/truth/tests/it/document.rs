//! Files as one document and back, and what a passthrough gateway publishes.

use prose_ir::{ARTIFACT_VERSION, Contract, Fingerprint, NodeKind};
use prose_truth::{admit, document, files_of, region};
use serde_json::{Value, json};

use crate::tree::files;

#[test]
fn files_read_as_shared_fields_plus_one_key_for_each_facet() {
    let files = files(&[
        ("truth.json", r#"{"as_of":"today"}"#),
        ("funding/truth.json", r#"{"rounds":[1.0]}"#),
        ("funding/deep/truth.json", "not read"),
        ("report.md", "# not read"),
    ]);
    let expected = json!({"as_of": "today", "funding": {"rounds": [1]}});
    assert_eq!(document(&files).unwrap(), expected);
    let back = files_of(expected.clone(), &["funding", "absent"]).unwrap();
    assert_eq!(back.len(), 2);
    assert_eq!(&**back.get("funding/truth.json").unwrap(), br#"{"rounds":[1]}"#);
    assert_eq!(document(&back).unwrap(), expected);
}

#[test]
fn what_cannot_be_one_document_is_refused_with_a_code() {
    for (contents, code) in [
        (vec![("truth.json", "[]")], "truth_not_an_object"),
        (vec![("truth.json", "{")], "json_syntax"),
        (vec![("a/truth.json", "{\"x\":1,\"x\":1}")], "json_duplicate_key"),
        (vec![("truth.json", "{\"a\":1}"), ("a/truth.json", "{}")], "truth_key_twice"),
    ] {
        assert_eq!(document(&files(&contents)).unwrap_err().code(), code);
    }
    let empty = document(&files(&[("notes.md", "hi")])).unwrap();
    assert_eq!(empty, json!({}));
    for bad in ["..", "a/b", "", "a\\b"] {
        assert!(files_of(json!({bad: 1}), &[bad]).is_err(), "{bad:?}");
    }
}

#[test]
fn a_facet_reads_its_region_and_a_member_its_own_part() {
    let truth = json!({"funding": {"x": 1}, "user": {"ann": 1, "bob": null}});
    for (facet, expected) in [
        ("@atomic", Some(truth.clone())),
        ("funding", Some(json!({"x": 1}))),
        ("user:<login>", Some(json!({"ann": 1, "bob": null}))),
        ("user:ann", Some(json!(1))),
        ("user:bob", Some(Value::Null)),
        ("user:eve", None),
        ("absent", None),
    ] {
        assert_eq!(region(&truth, facet), expected, "{facet}");
    }
}

fn gateway(fields: &[&str], facets: &[&str]) -> Contract {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    Contract {
        version: ARTIFACT_VERSION,
        node: "gate".into(),
        kind: NodeKind::Gateway,
        contract_fingerprint: Fingerprint::of(b""),
        path: "gate.prose.md".into(),
        text: String::new(),
        goal: None,
        fields: names(fields),
        facets: names(facets),
        needs: vec![],
        wake_modes: vec![],
        cadences: vec![],
        execution: false,
        routes: vec![],
        tools: vec![],
        skills: vec![],
        environment: vec![],
        runtime: Default::default(),
        functions: Default::default(),
    }
}

#[test]
fn an_event_is_taken_as_it_is_only_when_every_key_is_declared() {
    let one = gateway(&["issues"], &["user:<login>"]);
    for (event, expected) in [
        (json!({"issues": [1]}), json!({"issues": [1]})),
        (json!({"issues": [1], "user": {}}), json!({"issues": [1], "user": {}})),
        (json!({"issues": [1], "ts": 2}), json!({"issues": {"issues": [1], "ts": 2}})),
        (json!({}), json!({"issues": {}})),
        (json!([1]), json!({"issues": [1]})),
        (json!(null), json!({"issues": null})),
    ] {
        assert_eq!(admit(&one, event), expected);
    }
    let wrapped = |contract: &Contract| admit(contract, json!("hi"));
    assert_eq!(wrapped(&gateway(&[], &[])), json!({"event": "hi"}));
    assert_eq!(wrapped(&gateway(&["a", "b"], &[])), json!({"event": "hi"}));
    assert_eq!(wrapped(&gateway(&[], &["items"])), json!({"items": "hi"}));
    assert_eq!(wrapped(&gateway(&[], &["user:<id>"])), json!({"event": "hi"}));
}
