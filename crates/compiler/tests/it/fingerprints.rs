//! A contract fingerprint moves with the meaning and with nothing else.

use crate::support::compile;

const TEXT: &str = "---\nname: node\nkind: responsibility\nversion: 1.0.0\n---\n\n# A Title\n\n### Description\n\nFor people.\n\n### Goal\n\nKeep the rows current, every one of them.\n\n### Maintains\n\n- `rows`: the rows; material: every `entry`\n\n#### part\nThe part. Material: `id`.\n\n### Notes\n\nUnknown to all.\n\n### Execution\n\n```prose\nlet x = call helper\n```\n\n## helper\n\n### Returns\n\n- `line`: one line\n\n### Execution\n\n```prose\ncall deeper\n```\n\n## deeper\n\n### Returns\n\n- `word`: one word\n\n## stranger\n\n### Returns\n\n- `other`: nothing of the kind\n";

fn fingerprint(text: &str) -> String {
    let bundle = compile(&[("node.prose.md", text)]).bundle.unwrap();
    bundle.contracts["node"].contract_fingerprint.to_string()
}

#[track_caller]
fn edit(from: &str, to: &str, moves: bool) {
    assert!(TEXT.contains(from), "{from}");
    let before = fingerprint(TEXT);
    let after = fingerprint(&TEXT.replace(from, to));
    assert_eq!(before != after, moves, "{from:?} -> {to:?}");
}

#[test]
fn cosmetic_edits_do_not_move_it() {
    edit("rows current, every one", "rows\ncurrent,   every one", false);
    edit("# A Title", "# Another", false);
    edit("For people.", "For other people.", false);
    edit("Unknown to all.", "Known to some.", false);
    edit("version: 1.0.0", "version: 2.0.0", false);
    edit("- `rows`", "*   `rows`", false);
    edit("### Goal", "### GOAL ###", false);
    edit("the rows;", "the **rows**;", false);
    edit("nothing of the kind", "something else", false);
    edit("\n", "\r\n", false);
    edit("current, every one of them.", "current, every one of them.\n\n---", false);
}

#[test]
fn meaning_moves_it() {
    edit("#### part", "#### other-part", true);
    edit("Material: `id`", "Material: `name`", true);
    edit("`entry`", "entry", true);
    edit("every one of them", "most of them", true);
    edit("name: node", "name: node\nid: 067NC4KG01RG50R40M30E20918", true);
    edit("one line", "two lines", true);
    edit("one word", "two words", true);
    edit("let x", "let y", true);
}

#[test]
fn with_an_id_the_name_does_not_count() {
    let text = |name: &str| {
        format!("---\nname: {name}\nkind: gateway\nid: 067NC4KG01RG50R40M30E20918\n---\n")
    };
    let of = |name: &str| {
        let bundle = compile(&[("x.prose.md", &text(name))]).bundle.unwrap();
        bundle.contracts[name].contract_fingerprint.clone()
    };
    assert_eq!(of("old"), of("new"));
}

#[test]
fn functions_that_call_each_other_are_followed() {
    let text = |word: &str| {
        format!(
            "---\nname: node\nkind: gateway\n---\n### Execution\n```prose\ncall a\n```\n## a\n### Returns\n- `x`: y\n### Execution\n```prose\ncall b\n```\n## b\n### Returns\n- `x`: {word}\n### Execution\n```prose\ncall a\n```\n"
        )
    };
    assert_ne!(fingerprint(&text("one")), fingerprint(&text("two")));
    assert_eq!(fingerprint(&text("one")), fingerprint(&text("one")));
}
