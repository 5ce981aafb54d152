//! Trees: addresses, limits, reading back.

use prose_ir::Address;
use prose_truth::{Files, Limits, Tree, TreeError, TreePath, verify};

pub fn files(contents: &[(&str, &str)]) -> Files {
    contents
        .iter()
        .map(|(path, text)| (TreePath::new(path).unwrap(), text.as_bytes().into()))
        .collect()
}

#[test]
fn a_tree_reads_back_and_its_address_covers_paths_and_contents() {
    let snapshot = files(&[("truth.json", "{}"), ("a/b.md", "hi"), ("c.md", "hi")])
        .snapshot(&Limits::default())
        .unwrap();
    assert_eq!(snapshot.tree.files().len(), 3);
    assert_eq!(snapshot.blobs.len(), 2, "equal contents are one blob");
    assert_eq!(Tree::parse(&snapshot.bytes).unwrap(), snapshot.tree);
    assert!(verify(&snapshot.address, &snapshot.bytes));
    assert!(!verify(&snapshot.address, b"other"));
    for other in [
        files(&[("truth.json", "{}"), ("a/b.md", "ho"), ("c.md", "hi")]),
        files(&[("truth.json", "{}"), ("a/b.md", "hi"), ("d.md", "hi")]),
    ] {
        let other = other.snapshot(&Limits::default()).unwrap();
        assert_ne!(other.address, snapshot.address);
    }
}

#[test]
fn the_stored_form_of_a_tree_is_frozen() {
    let snapshot = files(&[("truth.json", "{}")]).snapshot(&Limits::default()).unwrap();
    let blob = Address::of(b"{}");
    assert_eq!(
        String::from_utf8(snapshot.bytes).unwrap(),
        format!(
            r#"{{"files":{{"truth.json":{{"blob":"{blob}","size":2}}}},"kind":"prose.tree","version":1}}"#
        )
    );
}

#[test]
fn only_canonical_trees_with_safe_paths_are_read() {
    let blob = Address::of(b"");
    let tree = |path: &str| {
        format!(
            r#"{{"files":{{"{path}":{{"blob":"{blob}","size":0}}}},"kind":"prose.tree","version":1}}"#
        )
    };
    assert!(Tree::parse(tree("a").as_bytes()).is_ok());
    for bad in [
        tree("../a"),
        tree("a").replace("prose.tree", "prose.wood"),
        tree("a").replace("\"version\":1", "\"version\":2"),
        tree("a").replace(",", ", "),
        tree("a").replace("\"size\":0", "\"size\":0,\"size\":0"),
        "[]".into(),
    ] {
        assert!(Tree::parse(bad.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn limits_and_conflicts_are_named() {
    let two = files(&[("a", "12"), ("b", "34")]);
    let limits = Limits { files_max: 1, ..Limits::default() };
    assert_eq!(two.snapshot(&limits).unwrap_err(), TreeError::TooManyFiles { files: 2, limit: 1 });
    let limits = Limits { bytes_max: 3, ..Limits::default() };
    assert_eq!(two.snapshot(&limits).unwrap_err(), TreeError::TooManyBytes { bytes: 4, limit: 3 });
    let conflict = files(&[("a", "1"), ("a.md", "2"), ("a/b", "3")]);
    assert_eq!(conflict.snapshot(&Limits::default()).unwrap_err(), TreeError::Conflict("a".into()));
}
