//! The gate and its expressions.

use std::collections::BTreeMap;

use prose_ir::{ARTIFACT_VERSION, Check, Judge, Postconditions, Structure};
use prose_truth::{Broken, Expression, gate};
use serde_json::{Value, json};

fn cel(source: &str) -> Check {
    Check {
        id: source.chars().take(20).collect(),
        text: "it holds".into(),
        judge: Judge::Cel(source.into()),
    }
}

fn post(facets: &[&str], fields: &[&str], checks: Vec<Check>) -> Postconditions {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    Postconditions {
        version: ARTIFACT_VERSION,
        node: "n".into(),
        structure: Structure { facets: names(facets), fields: names(fields) },
        checks,
    }
}

fn broken(post: &Postconditions, truth: &Value) -> Vec<Broken> {
    let none = BTreeMap::new();
    gate::check(post, truth, None, &json!({}), &none).err().unwrap_or_default()
}

fn answer(source: &str, truth: Value) -> Result<bool, String> {
    Expression::parse(source)
        .and_then(|e| e.evaluate(&truth, None, &json!({"n": {"x": 2}})))
        .map_err(|e| e.code().to_owned())
}

#[test]
fn conditions_over_self_prior_and_inputs_are_decided() {
    let truth = || json!({"total": 3, "half": 0.5, "list": [{"s": ["u"]}, {"s": []}], "b": {"y": 1, "x": 2}});
    for (source, expected) in [
        ("self.total + 1 == 4", true),
        ("self.half * 2.0 == 1.0", true),
        ("self.list.all(c, size(c.s) > 0)", false),
        ("self.list.exists(c, size(c.s) > 0)", true),
        ("self.list.filter(c, size(c.s) > 0).size() == 1", true),
        ("self.list.map(c, size(c.s)) == [1, 0]", true),
        ("self.list.exists_one(c, size(c.s) == 1)", true),
        ("self.b.map(k, k) == ['x', 'y']", true),
        ("self.b.all(k, self.b[k] > 0)", true),
        ("prior == null", true),
        ("prior == null || self.total >= prior.total", true),
        ("inputs.n.x == 2", true),
        ("has(self.total) && !has(self.missing)", true),
        ("self.total > 2 ? true : false", true),
        ("'a' in ['a'] && 'x' in self.b", true),
        ("'a,b'.split(',').size() == 2 && ' a '.trim() == 'a'", true),
        ("'Abc'.lowerAscii().matches('^a.c$')", true),
        ("type(self.total) == int && {'a': 1}['a'] == 1", true),
        ("1/0 > 0 || true", true),
        ("[1, 0].exists(x, 1 / x > 0)", true),
        ("[0, 1].exists(x, 1 / x > 0)", true),
    ] {
        assert_eq!(answer(source, truth()), Ok(expected), "{source}");
    }
}

#[test]
fn what_has_no_answer_is_an_error_with_a_code() {
    let nested = format!("{}1{} > 0", "(".repeat(90), ")".repeat(90));
    let chain = format!("1{} > 0", " + 1".repeat(2_000));
    let deep = "[1,2,3,4,5,6,7,8,9,0]";
    let slow = (0..8).fold("true".to_owned(), |inner, i| format!("{deep}.all(v{i}, {inner})"));
    let huge = format!("size(['aaaaaaaa']{}) > 0", ".map(x, x + x)".repeat(60));
    for (source, code) in [
        ("self.missing > 1", "cel_evaluation"),
        ("1 / 0 > 0", "cel_evaluation"),
        ("self.total", "cel_not_boolean"),
        ("self.total >", "cel_syntax"),
        ("", "cel_syntax"),
        ("state.total > 1", "cel_unknown_variable"),
        ("[1].all(x, y > 0)", "cel_unknown_variable"),
        ("[1].all(x, x > 0) && x > 0", "cel_unknown_variable"),
        ("now() > 1", "cel_unknown_function"),
        ("_f(1)", "cel_unknown_function"),
        (".f(1)", "cel_unknown_function"),
        ("has()", "cel_unknown_function"),
        ("[1].all(x)", "cel_unknown_function"),
        ("self.?total == 1", "cel_syntax"),
        ("a.b{c: 1} == 1", "cel_unknown_type"),
        (&chain, "cel_too_long"),
        (&slow, "cel_too_expensive"),
        (&huge, "cel_too_expensive"),
    ] {
        assert_eq!(answer(source, json!({"total": 1})), Err(code.into()), "{source}");
    }
    // Deep nesting within the limits is either answered or refused, never a crash.
    let _ = answer(&nested, json!({}));
}

#[test]
fn structure_is_checked_first_and_named() {
    let post = post(&["funding", "user"], &["as_of"], vec![cel("self.funding.x > 0")]);
    let found = broken(&post, &json!({"user": null}));
    let ids: Vec<_> = found.iter().map(|b| b.id.as_str()).collect();
    assert_eq!(ids, ["structure:funding", "structure:as_of"]);
    assert_eq!(broken(&post, &json!([]))[0].id, "structure");
    let whole = json!({"user": {}, "as_of": "", "funding": {"x": 1}});
    assert_eq!(broken(&post, &whole), []);
}

#[test]
fn an_error_breaks_its_check_and_leaves_the_others_alone() {
    let post = post(&[], &[], vec![cel("self.a > 0"), cel("self.missing > 0"), cel("self.a > 1")]);
    let found = broken(&post, &json!({"a": 1}));
    assert_eq!(found.len(), 2);
    assert!(found[0].reason.contains("missing"), "{}", found[0].reason);
    assert_eq!(found[1].reason, "the condition is false");
}

#[test]
fn an_attestation_must_be_given_and_true() {
    let check = Check { id: "c1".into(), text: "the prose is kind".into(), judge: Judge::Render };
    let post = post(&[], &[], vec![check]);
    let run = |given: &[(&str, bool)]| {
        let given = given.iter().map(|(id, ok)| ((*id).to_owned(), *ok)).collect();
        gate::check(&post, &json!({}), None, &json!({}), &given)
    };
    assert!(run(&[("c1", true)]).is_ok());
    assert!(run(&[("c1", false)]).is_err());
    assert!(run(&[("other", true)]).is_err());
}

#[test]
fn a_condition_over_every_pair_of_some_hundred_is_within_the_limit() {
    let items: Vec<Value> = (0..500).map(|i| json!({"id": i, "text": "x".repeat(100)})).collect();
    let truth = json!({"items": items, "text": "y".repeat(1 << 19)});
    for (source, expected) in [
        ("self.items.all(x, self.items.filter(y, y.id == x.id).size() == 1)", Ok(true)),
        ("self.items.all(x, size(x.text) == 100 && x in self.items)", Ok(true)),
        // As many passes over half a mebibyte are not.
        ("self.items.all(x, !self.text.contains(x.text))", Err("cel_too_expensive".to_owned())),
    ] {
        assert_eq!(answer(source, truth.clone()), expected, "{source}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(150))]

    #[test]
    fn arbitrary_sources_are_refused_or_answered(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "self", ".a", "[0]", "(", ")", ".all(x, ", ".map(x, ", "x", " + ", " == ", "1", "'s'",
                "size(", "has(", "{", "}", ",", ":", "?", "!", "-", "&&", "||", "in", "\n", "`", "é",
            ]),
            0..14,
        )
    ) {
        let source = parts.concat();
        let _ = answer(&source, json!({"a": [1, 2]}));
    }
}
