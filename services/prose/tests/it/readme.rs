//! What the README says, run.

use std::{fs, path::Path, process::Command};

use prose_testkit::Project;

use crate::support::{Up, prose_in, until};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The fenced blocks of the README in one language.
fn blocks(language: &str) -> Vec<String> {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let fence = format!("```{language}\n");
    let parts = readme.split("```").collect::<Vec<_>>();
    let inside = parts.iter().skip(1).step_by(2).map(|part| format!("```{part}"));
    inside.filter_map(|block| block.strip_prefix(&fence).map(ToOwned::to_owned)).collect()
}

/// The words of a command as a shell would see them.
fn words(command: &str) -> Vec<String> {
    let output = Command::new("sh")
        .args(["-c", &format!("set -- {command}\nprintf '%s\\0' \"$@\"")])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0').map(ToOwned::to_owned).collect()
}

#[test]
fn the_main_command_prints_the_table_that_the_readme_shows() {
    let command = blocks("sh").remove(0);
    let asked = command.trim().strip_prefix("cargo run --release --bin prose -- ").unwrap();
    let folder = Project::new();
    let mut copy = Command::new("cp");
    copy.arg("-R").arg(root().join("examples")).arg(folder.root());
    assert!(copy.status().unwrap().success());
    // What somebody has run in the checkout is not part of the example.
    for left in [".prose", "dist"] {
        let _ = fs::remove_dir_all(folder.path(&format!("examples/competitor-watch/{left}")));
    }
    let shown = blocks("").into_iter().find(|block| block.starts_with("node ")).unwrap();
    let first = prose_in(folder.root(), words(asked)).ok();
    assert!(first.out.contains(shown.trim_end()), "the README shows\n{shown}\nbut\n{}", first.out);
    let again = prose_in(folder.root(), words(asked)).ok();
    assert!(again.out.contains("0 events taken in"), "{}", again.out);
}

#[test]
fn a_project_is_started_as_the_readme_says() {
    let block = blocks("sh").into_iter().find(|block| block.contains("prose init")).unwrap();
    let commands: Vec<_> = block.lines().map(|line| line.replace("my-project", "demo")).collect();
    let [init, up, rest @ ..] = commands.as_slice() else { panic!("{block}") };
    assert!(up.starts_with("cd demo && prose up"), "{up}");
    assert_eq!(rest.len(), 3, "{block}");

    let folder = Project::new();
    let run = |at: &Path, command: &str| prose_in(at, &words(command)[1..]);
    run(folder.root(), init).ok();
    let _up = Up::start(&folder, &[]);
    let demo = folder.path("demo");
    for command in rest {
        run(&demo, command).ok();
    }
    until("the list follows the pantry", || {
        let shown = prose_in(&demo, ["show", "shopping-list", "--json"]);
        shown.out.contains("milk")
    });
}
