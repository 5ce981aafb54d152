//! Tokens: what moves them and what does not.

use std::collections::BTreeMap;

use proptest::prelude::*;
use prose_ir::{ARTIFACT_VERSION, FacetSpec, Fingerprint, Rule, RuleKind};
use prose_truth::{Canonicalizer, json::strict};
use serde_json::{Map, Value, json};

fn rule(field: &str, kind: RuleKind) -> Rule {
    Rule { field: (!field.is_empty()).then(|| field.to_owned()), kind }
}

fn facet(name: &str) -> FacetSpec {
    FacetSpec { name: name.into(), family: None, only: None, immaterial: vec![], rules: vec![] }
}

fn spec() -> prose_ir::Canonicalizer {
    prose_ir::Canonicalizer {
        version: ARTIFACT_VERSION,
        node: "n".into(),
        immaterial: vec!["fetched_at".into()],
        rules: vec![rule("title", RuleKind::CaseInsensitive), rule("tags", RuleKind::Unordered)],
        facets: vec![
            FacetSpec {
                immaterial: vec!["note".into()],
                rules: vec![
                    rule("rounds", RuleKind::Unordered),
                    rule("amount", RuleKind::Quantum(0.01)),
                    rule("code", RuleKind::Exact),
                ],
                ..facet("funding")
            },
            FacetSpec { only: Some(vec!["status".into()]), ..facet("health") },
            FacetSpec {
                family: Some("user".into()),
                rules: vec![rule("", RuleKind::CaseInsensitive)],
                ..facet("user:<login>")
            },
        ],
    }
}

fn tokens(document: &Value) -> BTreeMap<String, Fingerprint> {
    Canonicalizer::new(&spec()).unwrap().fingerprints(document)
}

fn base() -> Value {
    json!({
        "title": "Watch", "tags": ["a", "b"], "fetched_at": 1,
        "funding": {"rounds": [{"amount": 1.5, "code": "A 1", "note": "x"}, {"amount": 2}],
                    "log": [1, 2], "fetched_at": 9},
        "health": {"status": "ok", "checks": [{"status": "ok", "ms": 3}], "ms": 4},
        "user": {"ann": {"name": "Ann"}, "bob": {"name": "Bob"}},
    })
}

/// The facets whose tokens differ between the base and the base with `pointer` set to `value`.
fn moved(pointer: &str, value: Value) -> Vec<String> {
    let mut document = base();
    match document.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            document.pointer_mut(parent).unwrap()[key] = value;
        }
    }
    differing(&base(), &document)
}

fn differing(a: &Value, b: &Value) -> Vec<String> {
    prose_truth::moved(&tokens(a), &tokens(b))
}

#[test]
fn tokens_are_frozen() {
    let listing: String =
        tokens(&base()).iter().map(|(facet, token)| format!("{facet} {token}\n")).collect();
    assert_eq!(listing, include_str!("tokens.txt"));
}

#[test]
fn immaterial_changes_move_nothing() {
    let nothing: Vec<String> = vec![];
    for (pointer, value) in [
        ("/fetched_at", json!(2)),
        ("/funding/fetched_at", json!({"deep": 1})),
        ("/funding/rounds/0/note", json!("y")),
        ("/title", json!("  wATCH\n")),
        ("/tags", json!(["b", "a", "b"])),
        ("/funding/rounds/0/amount", json!(1.5049)),
        ("/funding/rounds", json!([{"amount": 2.0}, {"code": "A 1", "amount": 1.5}])),
        ("/health/ms", json!(5)),
        ("/health/checks/0/ms", json!(5)),
        ("/health/checks", json!([{"ms": 1}, {"status": "ok"}])),
        ("/health/more", json!([1, 2])),
        ("/user/ann/name", json!("ANN")),
        ("/user/ann/fetched_at", json!(3)),
    ] {
        assert_eq!(moved(pointer, value.clone()), nothing, "{pointer} {value}");
    }
}

#[test]
fn a_material_change_moves_its_facet_and_the_whole_only() {
    for (pointer, value, facets) in [
        ("/title", json!("Watched"), vec!["@atomic"]),
        ("/tags", json!(["a"]), vec!["@atomic"]),
        ("/new", json!(null), vec!["@atomic"]),
        ("/funding/log", json!([2, 1]), vec!["@atomic", "funding"]),
        ("/funding/rounds/0/amount", json!(1.51), vec!["@atomic", "funding"]),
        ("/funding/rounds/0/code", json!("A  1"), vec!["@atomic", "funding"]),
        ("/funding/rounds/0/code", json!("a 1"), vec!["@atomic", "funding"]),
        ("/funding", json!(null), vec!["@atomic", "funding"]),
        ("/health/status", json!("bad"), vec!["@atomic", "health"]),
        ("/health/checks/0/status", json!("bad"), vec!["@atomic", "health"]),
        ("/user/ann/name", json!("Anna"), vec!["@atomic", "user:<login>", "user:ann"]),
        ("/user/eve", json!({}), vec!["@atomic", "user:<login>", "user:eve"]),
    ] {
        assert_eq!(moved(pointer, value.clone()), facets, "{pointer} {value}");
    }
}

#[test]
fn absent_null_and_empty_are_three_things() {
    let with = |health: Option<Value>| {
        let mut document = json!({});
        if let Some(health) = health {
            document["health"] = health;
        }
        tokens(&document)["health"].clone()
    };
    let absent = with(None);
    let empty = with(Some(json!({"ms": 1})));
    let full = with(Some(json!({"status": null})));
    assert!(absent != empty && empty != full && absent != full);
    assert_eq!(with(Some(json!(null))), empty, "nothing named by `only` in it");
    let mut bare = facet("f");
    bare.name = "f".into();
    let spec = prose_ir::Canonicalizer { facets: vec![bare], ..spec() };
    let canonicalizer = Canonicalizer::new(&spec).unwrap();
    let token = |document| canonicalizer.fingerprints(&document)["f"].clone();
    assert_ne!(token(json!({})), token(json!({"f": null})));
}

#[test]
fn an_exact_region_keeps_white_space_and_a_bare_rule_reaches_everything() {
    let with = |kind: RuleKind, document: Value| {
        let spec =
            prose_ir::Canonicalizer { rules: vec![rule("", kind)], facets: vec![], ..spec() };
        Canonicalizer::new(&spec).unwrap().fingerprints(&document)
    };
    let same = |kind: RuleKind, a: Value, b: Value| with(kind.clone(), a) == with(kind, b);
    assert!(!same(RuleKind::Exact, json!({"a": "x y"}), json!({"a": "x  y"})));
    assert!(same(RuleKind::Unordered, json!({"a": [[1, 2], 3]}), json!({"a": [3, [2, 1]]})));
    assert!(same(RuleKind::Quantum(10.0), json!({"a": {"b": 14}}), json!({"a": {"b": 6}})));
    assert!(same(RuleKind::CaseInsensitive, json!({"a": "Straße"}), json!({"a": "STRASSE"})));
}

#[test]
fn a_rule_for_a_facet_by_its_own_name_reaches_a_region_that_is_no_object() {
    let rounds = FacetSpec {
        only: Some(vec!["rounds".into()]),
        rules: vec![rule("rounds", RuleKind::Unordered)],
        ..facet("rounds")
    };
    let spec = prose_ir::Canonicalizer { facets: vec![rounds], ..spec() };
    let canonicalizer = Canonicalizer::new(&spec).unwrap();
    let token = |rounds| canonicalizer.fingerprints(&json!({"rounds": rounds}))["rounds"].clone();
    assert_eq!(token(json!([1, 2])), token(json!([2, 1])));
    assert_ne!(token(json!([1, 2])), token(json!([1, 3])));
}

#[test]
fn a_spec_that_breaks_its_rules_is_refused() {
    let code = |change: &dyn Fn(&mut prose_ir::Canonicalizer)| {
        let mut spec = spec();
        change(&mut spec);
        Canonicalizer::new(&spec).unwrap_err().code()
    };
    assert_eq!(code(&|s| s.version = 2), "canonicalizer_version");
    for quantum in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let rule = rule("x", RuleKind::Quantum(quantum));
        assert_eq!(code(&|s| s.rules.push(rule.clone())), "canonicalizer_quantum");
    }
    assert_eq!(code(&|s| s.facets.push(facet("user"))), "canonicalizer_facet");
    assert_eq!(code(&|s| s.facets.push(facet("@atomic"))), "canonicalizer_facet");
}

fn any_json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        "[a-c]",
        prop::sample::select(vec![
            "note",
            "fetched_at",
            "amount",
            "rounds",
            "status",
            "tags",
            "code"
        ])
        .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1000i64..1000).prop_map(Value::from),
        (-10.0..10.0f64).prop_map(Value::from),
        "[ a-cA-CßΣİ\\n]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_document() -> impl Strategy<Value = Value> {
    (any_json(), any_json(), any_json(), any_json(), any_json()).prop_map(
        |(shared, funding, health, ann, bob)| {
            json!({"shared": shared, "funding": funding, "health": health,
                   "user": {"ann": ann, "bob": bob}})
        },
    )
}

/// The same document with the members of every object in the opposite order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(members) => {
            let members = members.iter().rev().map(|(k, v)| (k.clone(), reversed(v)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// The same document with noise in everything that does not count anywhere.
fn noisy(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(noisy).collect(),
        Value::Object(members) => {
            let mut noisy: Map<_, _> =
                members.iter().map(|(key, value)| (key.clone(), self::noisy(value))).collect();
            noisy.insert("fetched_at".into(), json!([members.len()]));
            Value::Object(noisy)
        }
        Value::String(text) => json!(format!(" {}\t", text.replace(' ', " \u{a0} "))),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_order_of_members_and_the_way_of_writing_do_not_matter(document in any_document()) {
        let written = serde_json::to_vec_pretty(&reversed(&document)).unwrap();
        let read = strict::parse(&written).unwrap();
        prop_assert_eq!(tokens(&read), tokens(&document));
    }

    #[test]
    fn noise_never_moves_a_token(shared in any_json(), ann in any_json()) {
        // Outside `code`, which is exact only within `funding`.
        let document = json!({"shared": shared, "user": {"ann": ann}});
        let mut changed = json!({"shared": noisy(&document["shared"]), "fetched_at": 0});
        changed["user"] = json!({"ann": noisy(&document["user"]["ann"])});
        prop_assert_eq!(differing(&document, &changed), Vec::<String>::new());
    }

    #[test]
    fn a_change_in_one_facet_moves_at_most_it_and_the_whole(
        document in any_document(), other in any_json(), which in 0..2usize,
    ) {
        let facet = ["funding", "health"][which];
        let mut changed = document.clone();
        changed[facet] = other;
        let moved = differing(&document, &changed);
        prop_assert!(moved.is_empty() || moved == ["@atomic", facet], "{:?}", moved);
    }

    #[test]
    fn sets_ignore_order_and_repetition(items in prop::collection::vec(any_json(), 0..5)) {
        let mut shuffled: Vec<Value> = items.iter().rev().cloned().collect();
        shuffled.extend(items.first().cloned());
        let with = |items: &[Value]| json!({"tags": items, "funding": {"rounds": items}});
        prop_assert_eq!(differing(&with(&items), &with(&shuffled)), Vec::<String>::new());
    }
}
