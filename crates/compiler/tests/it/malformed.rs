//! Broken contracts are told what is wrong, where.

use prose_contract::Severity;
use serde_json::Value;

use crate::{
    corpus::{departures, json},
    support::{corpus, host},
};

/// What a later part of the language decides: tests, patterns, and the details of ProseScript.
const LATER: [&str; 8] = [
    "test-subject-missing",
    "test-subject-pattern",
    "test-subject-unknown",
    "pattern-slot-unbound",
    "pattern-unresolved",
    "pattern-path-traversal",
    "loop-unbounded",
    "prosescript-tab",
];

#[test]
fn every_case_gives_its_diagnostics() {
    let Some(root) = corpus("malformed") else {
        return;
    };
    let expected = json(&root.join("expected.json"));
    let mut failures = Vec::new();
    for case in expected["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let compilation = prose_compiler::compile(&root.join(id), &host()).unwrap();
        for (path, text) in &compilation.sources {
            for diagnostic in compilation.diagnostics.iter().filter(|d| d.path == *path) {
                assert!(!prose_contract::render(diagnostic, text, true).is_empty());
            }
        }
        if LATER.contains(&id) {
            continue;
        }
        let found = check(case, &compilation);
        if !found.is_empty() {
            failures.push(format!("{id}: {found:#?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check(case: &Value, compilation: &prose_compiler::Compilation) -> Vec<String> {
    let mut found = departures(case, compilation);
    if case["compiles"] != compilation.bundle.is_some() {
        found.push(format!("compiles is not {}", case["compiles"]));
    }
    let wanted = case["diagnostics"].as_array().unwrap();
    for want in wanted {
        if !compilation.diagnostics.iter().any(|d| is_wanted(want, d)) {
            found.push(format!("missing: {want}"));
        }
    }
    let silent = wanted.is_empty() && case["warnings_allowed"] != true;
    let limit = if silent { Severity::Info } else { Severity::Warning };
    for d in compilation.diagnostics.iter().filter(|d| d.severity > limit) {
        if !wanted.iter().any(|want| is_wanted(want, d)) {
            found.push(format!(
                "unexpected: {}:{} {} {}",
                d.path,
                d.line,
                d.code.as_str(),
                d.message
            ));
        }
    }
    if let Some(acyclic) = case.get("acyclic")
        && *acyclic != compilation.topology().acyclic
    {
        found.push("acyclic is wrong".to_owned());
    }
    found
}

fn is_wanted(want: &Value, d: &prose_contract::Diagnostic) -> bool {
    let severity = serde_json::to_value(d.severity).unwrap();
    let line = d.line as u64;
    let line_fits = want["line"].as_u64().is_none_or(|first| {
        let last = want["line_end"].as_u64().unwrap_or(first);
        (first..=last).contains(&line)
    });
    let names = want["names"].as_array().into_iter().flatten().filter_map(Value::as_str);
    want["code"] == d.code.as_str()
        && want["severity"] == severity
        && (want["file"].is_null() || want["file"] == *d.path)
        && line_fits
        && names.into_iter().all(|name| d.message.contains(name))
}
