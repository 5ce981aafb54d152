//! `init`, `compile` and `topology`.

use crate::support::{demo, prose_in};

#[test]
fn a_new_project_compiles_and_is_not_overwritten() {
    let folder = demo();
    let root = folder.root();
    prose_in(root, ["init", "demo"]).refused("file_exists", "nothing was written");
    let compiled = prose_in(root, ["compile", "demo"]).ok();
    assert_eq!(compiled.out, "2 nodes and 1 subscription written to dist/\n");
    assert_eq!(compiled.err, "");
    assert!(folder.path("demo/dist/manifest.next.json").exists());
    let json = prose_in(root, ["compile", "demo", "--json"]).ok().json();
    assert_eq!((&json["written"], json["nodes"].as_array().unwrap().len()), (&true.into(), 2));
    // It may be given from inside, too.
    prose_in(&folder.path("demo/jq"), ["compile"]).ok();
}

#[test]
fn errors_in_contracts_are_shown_where_they_are() {
    let folder = demo();
    prose_in(folder.root(), ["compile", "demo"]).ok();
    let before = folder.read("demo/dist/manifest.next.json");
    let broken = folder
        .read("demo/shopping-list.prose.md")
        .replace("`stock` from `pantry`", "`shelf` from `pantri`");
    folder.write("demo/shopping-list.prose.md", broken);
    for command in ["compile", "up"] {
        let failed = prose_in(folder.root(), [command, "demo"]).code(1);
        assert!(failed.err.contains("error[requires_unsatisfied]"), "{}", failed.err);
        assert!(failed.err.contains("shopping-list.prose.md:"), "{}", failed.err);
        assert!(failed.err.contains("| - `shelf` from `pantri`"), "{}", failed.err);
    }
    let json = prose_in(folder.root(), ["compile", "demo", "--json"]).code(1).json();
    assert_eq!(json["written"], false);
    assert_eq!(json["diagnostics"][0]["code"], "requires_unsatisfied");
    assert_eq!(folder.read("demo/dist/manifest.next.json"), before);
}

#[test]
fn the_graph_comes_in_four_forms() {
    let folder = demo();
    let graph =
        |format: &str| prose_in(folder.root(), ["topology", "demo", "--format", format]).ok().out;
    assert_eq!(graph("text"), "pantry (external)\nshopping-list\n  reads everything of pantry\n");
    assert_eq!(
        graph("mermaid"),
        "flowchart LR\n  n0([\"pantry\"])\n  n1[\"shopping-list\"]\n  n0 --> n1\n"
    );
    assert!(graph("dot").contains("\"pantry\" -> \"shopping-list\";"));
    let json: serde_json::Value = serde_json::from_str(&graph("json")).unwrap();
    assert_eq!(json["edges"][0]["producer"], "pantry");
}

#[test]
fn contracts_cannot_steer_the_terminal() {
    let folder = demo();
    let contract = folder.read("demo/shopping-list.prose.md");
    let hostile = contract.replace("`stock` from `pantry`", "`shelf` from `\x1b[2Jpantri`");
    folder.write("demo/shopping-list.prose.md", hostile);
    let failed = prose_in(folder.root(), ["compile", "demo"]).code(1);
    assert!(!failed.err.contains('\x1b'), "{:?}", failed.err);
}
