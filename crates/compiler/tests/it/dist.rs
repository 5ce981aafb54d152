//! From a folder to `dist` and back.

use std::{fs, path::Path};

use prose_compiler::{Error, Host, compile, read, write};

use crate::support;

const GOOD: &str = "---\nname: one\nkind: gateway\n---\n### Maintains\n- `rows`: x\n";

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(content(&path));
        } else {
            files.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    files.sort();
    files
}

#[test]
fn the_same_sources_give_the_same_bytes() {
    let root = tree(&[("one.prose.md", GOOD), ("sub/two.prose.md", &GOOD.replace("one", "two"))]);
    let dist = root.path().join("dist");
    let first = compile(root.path(), &Host::trusting()).unwrap().bundle.unwrap();
    write(&first, &dist).unwrap();
    let before = content(&dist);
    // What was written is not read as a source.
    let again = compile(root.path(), &Host::trusting()).unwrap().bundle.unwrap();
    write(&again, &dist).unwrap();
    assert_eq!(before, content(&dist));
    assert_eq!(read(&dist).unwrap(), first);
    assert_eq!(before.len(), 7);
}

#[test]
fn nothing_is_given_out_while_there_is_an_error() {
    let bad = "---\nname: two\nkind: gateway\n---\n### Requires\n- `rows`\n";
    let root = tree(&[("one.prose.md", GOOD), ("two.prose.md", bad)]);
    let compilation = compile(root.path(), &Host::trusting()).unwrap();
    assert!(compilation.bundle.is_none());
    assert_eq!(compilation.topology().nodes.len(), 2);
    // A draft is no bundle: its own rules keep it from being written.
    assert!(!prose_ir::validate::manifest(compilation.draft().unwrap()).is_empty());
}

#[test]
fn a_bundle_that_breaks_its_rules_is_not_written() {
    let root = tree(&[("one.prose.md", GOOD)]);
    let mut bundle = compile(root.path(), &Host::trusting()).unwrap().bundle.unwrap();
    bundle.contracts.clear();
    let dist = root.path().join("dist");
    assert!(matches!(write(&bundle, &dist), Err(Error::Bundle(_))));
    assert!(!dist.exists());
}

#[test]
fn reading_checks_what_it_reads() {
    let root = tree(&[("one.prose.md", GOOD)]);
    let dist = root.path().join("dist");
    assert_eq!(read(&dist).unwrap_err().code(), "dist_unreadable");
    write(&compile(root.path(), &Host::trusting()).unwrap().bundle.unwrap(), &dist).unwrap();
    let manifest = dist.join("manifest.next.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"one\"", "\"../one\"")).unwrap();
    assert_eq!(read(&dist).unwrap_err().code(), "manifest_invalid");
    fs::write(&manifest, &text[..text.len() / 2]).unwrap();
    assert_eq!(read(&dist).unwrap_err().code(), "dist_malformed");
    fs::write(&manifest, &text).unwrap();
    fs::remove_file(dist.join("contracts/one.json")).unwrap();
    assert_eq!(read(&dist).unwrap_err().code(), "dist_unreadable");
}

#[test]
fn a_write_that_fails_leaves_what_was_there() {
    let root = tree(&[("one.prose.md", GOOD)]);
    let dist = root.path().join("dist");
    write(&compile(root.path(), &Host::trusting()).unwrap().bundle.unwrap(), &dist).unwrap();
    let before = content(&dist);
    fs::write(root.path().join("two.prose.md"), GOOD.replace("one", "two")).unwrap();
    // A folder stands where the contract of the new node is to be staged.
    fs::create_dir(dist.join("contracts/two.json~")).unwrap();
    let bundle = compile(root.path(), &Host::trusting()).unwrap().bundle.unwrap();
    assert_eq!(write(&bundle, &dist).unwrap_err().code(), "dist_unwritable");
    assert_eq!(before, content(&dist));
    fs::remove_dir(dist.join("contracts/two.json~")).unwrap();
    write(&bundle, &dist).unwrap();
    assert_eq!(read(&dist).unwrap(), bundle);
}

#[test]
fn artifacts_of_removed_nodes_go() {
    let root = tree(&[("one.prose.md", GOOD), ("two.prose.md", &GOOD.replace("one", "two"))]);
    let dist = root.path().join("dist");
    write(&compile(root.path(), &Host::trusting()).unwrap().bundle.unwrap(), &dist).unwrap();
    fs::remove_file(root.path().join("two.prose.md")).unwrap();
    write(&compile(root.path(), &Host::trusting()).unwrap().bundle.unwrap(), &dist).unwrap();
    assert!(!dist.join("contracts/two.json").exists());
    assert!(dist.join("contracts/one.json").exists());
}

#[test]
fn the_source_set() {
    let root = tree(&[
        ("one.prose.md", GOOD),
        ("README.md", "no contract"),
        ("dist/x.prose.md", "skipped"),
        ("node_modules/x.prose.md", "skipped"),
        (".git/x.prose.md", "skipped"),
        ("deep/er/two.prose.md", &GOOD.replace("one", "two")),
    ]);
    let compilation = compile(root.path(), &Host::trusting()).unwrap();
    let paths: Vec<_> = compilation.sources.keys().map(String::as_str).collect();
    assert_eq!(paths, ["deep/er/two.prose.md", "one.prose.md"]);
}

#[cfg(unix)]
#[test]
fn links_that_leave_the_root_are_refused() {
    let outside = tree(&[("secret.prose.md", &GOOD.replace("one", "secret"))]);
    let root = tree(&[("one.prose.md", GOOD)]);
    let link =
        |to: &Path, name: &str| std::os::unix::fs::symlink(to, root.path().join(name)).unwrap();
    link(&outside.path().join("secret.prose.md"), "secret.prose.md");
    link(outside.path(), "folder");
    link(outside.path(), "node_modules");
    link(Path::new("/nowhere/at/all.prose.md"), "dangling.prose.md");
    let compilation = compile(root.path(), &Host::trusting()).unwrap();
    assert_eq!(compilation.sources.len(), 1);
    assert_eq!(support::codes(&compilation), ["file_unreadable", "link_outside", "link_outside"]);
    assert!(compilation.bundle.is_none());
}

#[test]
fn a_root_without_contracts_is_no_compile() {
    let root = tree(&[("README.md", "")]);
    let code = |path: &Path| compile(path, &Host::trusting()).unwrap_err().code();
    assert_eq!(code(root.path()), "source_empty");
    assert_eq!(code(&root.path().join("missing")), "source_unreadable");
    assert_eq!(code(&root.path().join("README.md")), "source_unreadable");
}
