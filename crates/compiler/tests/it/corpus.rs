//! Contracts from the field give the graph that is expected of them.

use std::{collections::BTreeSet, fs, path::Path};

use prose_compiler::{Compilation, Host};
use serde_json::Value;

use crate::support::{corpus, host};

/// Every way in which a compilation departs from an `expected.json`.
pub fn departures(expected: &Value, compilation: &Compilation) -> Vec<String> {
    let mut found = nodes(expected, compilation);
    found.extend(edges(expected, compilation));
    let entries: BTreeSet<&str> =
        compilation.topology().entry_points.iter().map(String::as_str).collect();
    let wanted: BTreeSet<&str> = strings(&expected["entry_points"]).collect();
    if !expected["entry_points"].is_null() && entries != wanted {
        found.push(format!("entry points are {entries:?}, not {wanted:?}"));
    }
    found
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn nodes(expected: &Value, compilation: &Compilation) -> Vec<String> {
    let mut found = Vec::new();
    let Some(wanted) = expected["nodes"].as_array() else {
        return found;
    };
    let draft = compilation.draft().unwrap();
    let names: BTreeSet<&str> = draft.topology.nodes.iter().map(|n| n.node.as_str()).collect();
    let expected_names: BTreeSet<&str> = wanted.iter().filter_map(|n| n["name"].as_str()).collect();
    if names != expected_names {
        found.push(format!("nodes are {names:?}, not {expected_names:?}"));
        return found;
    }
    for node in wanted {
        let name = node["name"].as_str().unwrap_or_default();
        let actual = draft.topology.nodes.iter().find(|n| n.node == name).unwrap();
        let source = serde_json::to_value(actual.wake_source).unwrap();
        if source != node["wake_source"] {
            found.push(format!("{name} is woken by {source}, not {}", node["wake_source"]));
        }
        let facets = &draft.canonicalizers.iter().find(|c| c.node == name).unwrap().facets[1..];
        let is_right = |list: &Value| strings(list).eq(facets.iter().map(String::as_str));
        let others = node["facets_alt"].as_array();
        if !is_right(&node["facets"]) && !others.into_iter().flatten().any(is_right) {
            found.push(format!("{name} has the facets {facets:?}, not {}", node["facets"]));
        }
        if let (Some(bundle), Some(modes)) = (&compilation.bundle, node.get("wake_modes")) {
            let actual = serde_json::to_value(&bundle.contracts[name].wake_modes).unwrap();
            if actual != *modes {
                found.push(format!("{name} has the modes {actual}, not {modes}"));
            }
        }
    }
    found
}

fn edges(expected: &Value, compilation: &Compilation) -> Vec<String> {
    let mut found = Vec::new();
    let Some(wanted) = expected["edges"].as_array() else {
        return found;
    };
    let fits = |want: &Value, edge: &prose_ir::Edge| {
        want["subscriber"] == *edge.subscriber
            && want["producer"] == *edge.producer
            && (want["facet"] == *edge.facet
                || strings(&want["alt_facets"])
                    .chain(strings(&want["members"]))
                    .any(|f| f == edge.facet))
    };
    let edges = &compilation.topology().edges;
    for want in wanted.iter().filter(|w| w["how"] != "semantic") {
        if !edges.iter().any(|e| fits(want, e)) {
            found.push(format!(
                "no edge {} <- {}.{}",
                want["subscriber"], want["producer"], want["facet"]
            ));
        }
    }
    let optional: Vec<&Value> =
        expected["optional_edges"].as_array().into_iter().flatten().collect();
    for edge in edges {
        if !wanted.iter().chain(optional.iter().copied()).any(|w| fits(w, edge)) {
            found.push(format!(
                "a wrong edge {} <- {}.{}",
                edge.subscriber, edge.producer, edge.facet
            ));
        }
    }
    found
}

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn project(name: &str, compiles: bool) {
    let Some(root) = corpus(&format!("openprose-examples/{name}")) else {
        return;
    };
    let compilation = prose_compiler::compile(&root, &host()).unwrap();
    let found = departures(&json(&root.join("expected.json")), &compilation);
    assert!(found.is_empty(), "{name}: {found:#?}");
    let errors: Vec<_> =
        compilation.errors().map(|d| format!("{}:{} {}", d.path, d.line, d.message)).collect();
    assert_eq!(compilation.bundle.is_some(), compiles, "{name}: {errors:#?}");
}

#[test]
fn surprise_cost() {
    project("surprise-cost", true);
}

/// One need of this project has no contract that meets it, so that there is a graph but no manifest.
#[test]
fn inbox_triage() {
    project("inbox-triage", false);
}

#[test]
fn gateway_connector() {
    project("gateway-connector", true);
}

#[test]
fn fixture_multi_facet() {
    project("fixture-multi-facet", true);
}

#[test]
fn basic_unit_suite() {
    project("basic-unit-suite", true);
}

/// The graph of every other project fits as well, whether or not it may be mounted yet.
#[test]
fn whole_corpus() {
    let Some(root) = corpus("openprose-examples") else {
        return;
    };
    let mut projects = 0;
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.join("expected.json").exists() {
            let compilation = prose_compiler::compile(&path, &Host::trusting()).unwrap();
            let found = departures(&json(&path.join("expected.json")), &compilation);
            assert!(found.is_empty(), "{}: {found:#?}", path.display());
            projects += 1;
        }
    }
    assert!(projects > 5);
}
