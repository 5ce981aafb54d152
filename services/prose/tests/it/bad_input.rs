//! Every command on folders that are no projects, and on states it cannot use.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::support::{Up, demo, prose_in, ran};

/// All commands that need a project, with what else they need.
const COMMANDS: &[&[&str]] = &[
    &["compile"],
    &["up"],
    &["trigger", "pantry", "1"],
    &["status"],
    &["topology"],
    &["topology", "--mounted"],
    &["show", "pantry"],
    &["explain", "pantry"],
    &["receipts", "list"],
    &["receipts", "show", "abcd"],
    &["receipts", "verify"],
    &["receipts", "cost"],
    &["watch"],
    &["retry", "pantry"],
    &["render", "pantry", "--force"],
    &["cancel", "pantry"],
    &["doctor"],
];

fn each(folder: &std::path::Path, dir: &str, code: &str, part: &str) {
    for command in COMMANDS {
        let args = [&["-C", dir][..], command].concat();
        let refused = prose_in(folder, args).refused(code, part);
        assert_eq!(refused.out, "", "{command:?}");
    }
}

#[test]
fn folders_that_are_no_projects() {
    let folder = prose_testkit::Project::new().with("other/a.txt", "").with("file", "");
    fs::create_dir(folder.path("empty")).unwrap();
    each(folder.root(), "nowhere", "folder_missing", "there is no folder nowhere");
    each(folder.root(), "empty", "folder_empty", "prose init empty");
    each(folder.root(), "other", "project_not_found", "other is not a project");
    each(folder.root(), "file", "folder_not_a_folder", "file is not a folder");
    for command in COMMANDS {
        prose_in(&folder.path("other"), *command).refused("project_not_found", "or a folder above");
    }
    // Nothing was made by looking.
    assert_eq!(fs::read_dir(folder.path("empty")).unwrap().count(), 0);
}

#[test]
fn a_folder_that_cannot_be_read() {
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: root may read everything");
        return;
    }
    let folder = demo();
    let close = |mode| {
        fs::set_permissions(folder.path("demo"), PermissionsExt::from_mode(mode)).unwrap();
    };
    close(0o000);
    each(folder.root(), "demo", "folder_unreadable", "demo cannot be read");
    close(0o700);
}

#[test]
fn a_project_without_contracts() {
    let folder = prose_testkit::Project::new().with("p/prose.toml", "");
    for command in ["compile", "up", "topology"] {
        prose_in(folder.root(), [command, "p"]).refused("source_empty", "no `*.prose.md` file");
    }
    folder.write("p/prose.toml", "source = 'contracts'");
    prose_in(folder.root(), ["compile", "p"]).refused("source_unreadable", "contracts");
}

#[test]
fn a_project_that_never_ran() {
    let folder = demo();
    let reading = COMMANDS.iter().filter(|c| !matches!(c[0], "compile" | "up" | "doctor"));
    for command in reading.filter(|c| **c != ["topology"]) {
        let args = [&["-C", "demo"][..], command].concat();
        let code = if command[0] == "watch" { "not_running" } else { "state_missing" };
        prose_in(folder.root(), args).refused(code, "prose up");
    }
    assert!(!folder.path("demo/.prose").exists(), "asking makes no state");
    prose_in(folder.root(), ["doctor", "demo"]).ok();
}

#[test]
fn a_state_that_another_process_holds() {
    let folder = ran();
    let up = Up::start(&folder, &[]);
    let refused =
        prose_in(folder.root(), ["up", "demo"]).refused("state_locked", "held by process");
    assert!(refused.err.contains(&up.0.id().to_string()), "{}", refused.err);
    // Everybody else talks to the holder.
    prose_in(folder.root(), ["status", "demo"]).ok();
    // A holder that does not answer is named as well.
    fs::remove_file(folder.path("demo/.prose/prose.sock")).unwrap();
    prose_in(folder.root(), ["status", "demo"]).refused("state_locked", "held by process");
}

#[test]
fn a_state_of_a_newer_program_or_of_none() {
    let folder = ran();
    let path = folder.path("demo/.prose/state/state.sqlite");
    let database = rusqlite::Connection::open(&path).unwrap();
    let newer = "INSERT INTO refinery_schema_history (version, name, applied_on, checksum) \
                 VALUES (99, 'later', '', '')";
    database.execute(newer, []).unwrap();
    drop(database);
    for command in [&["status", "demo"][..], &["up", "demo"]] {
        prose_in(folder.root(), command).refused("state_newer", "version 99");
    }
    let doctor = prose_in(folder.root(), ["doctor", "demo"]).code(1);
    assert!(doctor.out.contains("version 99"), "{}", doctor.out);
    for extension in ["-wal", "-shm"] {
        let _ = fs::remove_file(folder.path(&format!("demo/.prose/state/state.sqlite{extension}")));
    }
    folder.write("demo/.prose/state/state.sqlite", "this is no database, however long it may be");
    prose_in(folder.root(), ["status", "demo"]).refused("state_unreadable", "state.sqlite");
}

#[test]
fn a_key_that_others_can_read_signs_nothing() {
    let folder = ran();
    let key = folder.path("demo/.prose/key.pem");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).unwrap();
    for command in [&["up", "demo"][..], &["status", "demo"]] {
        prose_in(folder.root(), command).refused("key_exposed", "mode 644");
    }
    prose_in(folder.root(), ["doctor", "demo"]).code(1);
    fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).unwrap();
    fs::write(&key, "no key").unwrap();
    prose_in(folder.root(), ["up", "demo"]).refused("key_malformed", "key.pem");
}

#[test]
fn endpoints_that_are_none() {
    let folder = demo();
    for endpoint in ["nonsense", "https://127.0.0.1:1", "http://127.0.0.1", "unix:/x"] {
        let args = ["status", "demo", "--endpoint", endpoint];
        prose_in(folder.root(), args).refused("endpoint_malformed", endpoint);
    }
    let args = ["status", "demo", "--endpoint", "http://127.0.0.1:9"];
    prose_in(folder.root(), args).refused("coordinator_unreachable", "http://127.0.0.1:9");
}

#[test]
fn nodes_that_are_none_name_the_nearest() {
    let folder = ran();
    for command in ["show", "explain", "retry", "cancel"] {
        let refused = prose_in(folder.root(), ["-C", "demo", command, "pantri"])
            .refused("node_unknown", "`pantri`");
        assert!(refused.err.contains("did you mean `pantry`?"), "{}", refused.err);
    }
}
