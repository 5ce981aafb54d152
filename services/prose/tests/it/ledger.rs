//! `receipts`: reading, proving, exporting.

use std::fs;

use prose_testkit::Project;

use crate::support::{Ran, prose_in, ran};

fn receipts(folder: &Project, args: &[&str]) -> Ran {
    prose_in(folder.root(), ["-C", "demo", "receipts"].iter().chain(args))
}

fn exported() -> Project {
    let folder = ran();
    receipts(&folder, &["export", "audit"]).ok();
    folder
}

fn verify(folder: &Project) -> Ran {
    prose_in(folder.root(), ["receipts", "verify", "--export", "audit", "--json"])
}

/// The codes of what was found.
fn found(ran: &Ran) -> Vec<String> {
    let json = ran.json();
    let findings = json["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn receipts_are_listed_and_shown() {
    let folder = ran();
    let list = receipts(&folder, &["list", "--json"]).ok().json();
    let list = list.as_array().unwrap();
    assert_eq!((list.len(), &list[0]["position"], &list[6]["position"]), (7, &7.into(), &1.into()));
    let page =
        receipts(&folder, &["list", "--node", "pantry", "--limit", "2", "--json"]).ok().json();
    assert_eq!(page[1]["receipt"]["node"], "pantry");
    assert_eq!(page.as_array().unwrap().len(), 2);
    let older = receipts(&folder, &["list", "--before", "3", "--json"]).ok().json();
    assert_eq!(older.as_array().unwrap().len(), 2);
    let address = list[0]["address"].as_str().unwrap();
    let shown = receipts(&folder, &["show", &address[7..15], "--json"]).ok().json();
    assert_eq!(shown, list[0]);
    receipts(&folder, &["show", "0000000000000000"]).refused("receipt_unknown", "");
    assert_eq!(receipts(&folder, &["list"]).ok().out.lines().count(), 7);
    let text = receipts(&folder, &["cost"]).ok().out;
    assert!(text.contains("surprises") && text.contains("external 5"), "{text}");
}

#[test]
fn an_untouched_ledger_is_sound_here_and_as_an_export() {
    let folder = exported();
    let sound = receipts(&folder, &["verify", "--json"]).ok().json();
    assert_eq!((&sound["sound"], &sound["receipts"]), (&true.into(), &7.into()));
    let export = verify(&folder).ok().json();
    assert_eq!(export, sound);
    // No project is needed, and the right key may be named.
    let key = sound["keys"][0].as_str().unwrap();
    let args = ["receipts", "verify", "--export", "audit", "--key", key];
    prose_in(folder.root(), args).ok();
    let other = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    let args = ["receipts", "verify", "--export", "audit", "--key", other, "--json"];
    assert!(found(&prose_in(folder.root(), args).code(1)).contains(&"unknown_key".into()));
    let args = ["receipts", "verify", "--export", "audit", "--key", "nonsense"];
    prose_in(folder.root(), args).refused("key_malformed", "nonsense");
    receipts(&folder, &["export", "audit"]).refused("export_exists", "audit");
    receipts(&folder, &["verify", "--export", "nowhere"]).refused("export_unreadable", "nowhere");
}

#[test]
fn one_changed_byte_of_a_receipt_is_found_and_named() {
    let folder = exported();
    let log = folder.read("audit/receipts.jsonl");
    for (from, to, code) in [
        ("\"seq\":2,", "\"seq\":3,", "address_mismatch"),
        ("\"status\":\"skipped\"", "\"status\":\"skippee\"", "receipt_malformed"),
        ("\"receipt\":{", "\"receipt\": {", "receipt_not_canonical"),
        ("\"signature\":\"", "\"signature\":\"0", "bad_signature"),
    ] {
        folder.write("audit/receipts.jsonl", log.replacen(from, to, 1));
        let ran = verify(&folder);
        let sound_space = code == "receipt_not_canonical" && ran.code == 0;
        // White space around a receipt is not part of its bytes.
        assert!(sound_space || ran.code == 1, "{from}: {}", ran.out);
        assert!(sound_space || found(&ran).contains(&code.to_owned()), "{from}: {}", ran.out);
    }
    folder.write("audit/receipts.jsonl", log.replacen("{\"address\"", "\0", 1));
    let ran = verify(&folder).code(1);
    assert_eq!(ran.json()["findings"][0]["position"], 1);
}

#[test]
fn a_changed_or_missing_truth_is_found_and_named() {
    let folder = exported();
    let contents = fs::read_dir(folder.path("audit/contents")).unwrap();
    let mut codes = std::collections::BTreeSet::new();
    for entry in contents {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        changed[bytes.len() / 2] ^= 1;
        fs::write(&path, changed).unwrap();
        codes.extend(found(&verify(&folder).code(1)));
        fs::remove_file(&path).unwrap();
        codes.extend(found(&verify(&folder).code(1)));
        fs::write(&path, bytes).unwrap();
    }
    verify(&folder).ok();
    let expected = ["blob_mismatch", "blob_missing", "tree_mismatch", "tree_missing"];
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn what_was_cut_off_left_out_or_put_elsewhere_is_found() {
    let folder = exported();
    let log = folder.read("audit/receipts.jsonl");
    let lines: Vec<&str> = log.lines().collect();
    let with = |lines: &[&str]| {
        folder.write("audit/receipts.jsonl", lines.join("\n") + "\n");
        found(&verify(&folder).code(1))
    };
    assert_eq!(with(&lines[..6]), ["log_truncated"]);
    assert!(with(&[&lines[..2], &lines[3..]].concat()).contains(&"seq_gap".into()));
    assert!(with(&[&lines[..], &lines[6..]].concat()).contains(&"fork".into()));
    folder.write("audit/receipts.jsonl", &log);
    let head = folder.read("audit/head.json");
    folder.write("audit/head.json", head.replacen("\"receipts\":7", "\"receipts\":6", 1));
    assert!(found(&verify(&folder).code(1)).contains(&"head_bad_signature".into()));
    fs::remove_file(folder.path("audit/head.json")).unwrap();
    assert_eq!(found(&verify(&folder).code(1)), ["head_missing"]);
    fs::remove_file(folder.path("audit/keys.json")).unwrap();
    let unreadable = verify(&folder).code(2).err;
    assert!(unreadable.contains("export_unreadable") && unreadable.contains("keys.json"));
}

#[test]
fn changes_in_the_store_are_found_as_well() {
    let changed = |sql: &str, code: &str| {
        let folder = ran();
        let path = folder.path("demo/.prose/state/state.sqlite");
        let database = rusqlite::Connection::open(path).unwrap();
        assert!(database.execute(sql, []).unwrap() > 0, "{sql}");
        drop(database);
        let ran = receipts(&folder, &["verify", "--json"]).code(1);
        assert!(found(&ran).contains(&code.to_owned()), "{}", ran.out);
    };
    changed(
        "UPDATE receipts SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"seq\":3,', '\"seq\":4,') AS BLOB)",
        "address_mismatch",
    );
    changed(
        "UPDATE contents SET bytes = CAST(replace(CAST(bytes AS TEXT), 'Ada', 'Eve') AS BLOB)",
        "blob_mismatch",
    );
    changed("DELETE FROM receipts WHERE id = (SELECT max(id) FROM receipts)", "log_truncated");
}

#[test]
fn an_unsigned_ledger_says_so() {
    let folder = crate::support::demo();
    let config = folder.read("demo/prose.toml").replace("enabled = true", "enabled = false");
    folder.write("demo/prose.toml", config);
    crate::support::feed(&folder).ok();
    assert!(!folder.path("demo/.prose/key.pem").exists());
    let ran = receipts(&folder, &["verify", "--json"]).ok();
    assert_eq!(found(&ran), ["some_unsigned"]);
}
