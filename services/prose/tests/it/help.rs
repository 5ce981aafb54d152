//! Help, completions, versions.

use std::path::Path;

use crate::support::prose_in;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["init"],
    &["compile"],
    &["up"],
    &["trigger"],
    &["status"],
    &["topology"],
    &["show"],
    &["explain"],
    &["receipts"],
    &["receipts", "list"],
    &["receipts", "show"],
    &["receipts", "verify"],
    &["receipts", "cost"],
    &["receipts", "export"],
    &["watch"],
    &["retry"],
    &["render"],
    &["cancel"],
    &["doctor"],
    &["completions"],
];

fn prose(args: &[&str]) -> crate::support::Ran {
    prose_in(Path::new("."), args)
}

#[test]
fn every_command_shows_examples() {
    for command in COMMANDS {
        let help = prose(&[command, &["--help"][..]].concat()).ok().out;
        assert!(help.contains("Examples:\n"), "{command:?}: {help}");
        let example = ["prose", command.first().unwrap_or(&"init")].join(" ");
        assert!(help.contains(&example) || help.contains("prose -C"), "{command:?}: {help}");
    }
}

#[test]
fn no_command_is_left_out_here() {
    let help = prose(&["--help"]).ok().out;
    let listed =
        help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    for line in listed {
        let name = line.split_whitespace().next().unwrap();
        assert!(name == "help" || COMMANDS.iter().any(|c| c.first() == Some(&name)), "{name}");
    }
    assert!(!help.contains("session"), "what is not for people is not shown");
}

#[test]
fn usage_errors_exit_with_2() {
    for args in [
        &["nonsense"][..],
        &[],
        &["up", "--workers", "0"],
        &["up", "--settle-every", "0"],
        &["up", "--listen", "here"],
        &["trigger", "x"],
        &["trigger", "x", "1", "--key", ""],
        &["render", "x"],
        &["topology", "--format", "png"],
        &["completions", "cmd"],
    ] {
        prose(args).code(2);
    }
}

#[test]
fn shells_get_completions() {
    for (shell, part) in [
        ("bash", "_prose"),
        ("zsh", "#compdef prose"),
        ("fish", "complete -c prose"),
        ("elvish", "prose"),
        ("powershell", "prose"),
    ] {
        let script = prose(&["completions", shell]).ok().out;
        assert!(script.contains(part) && script.contains("receipts"), "{shell}");
    }
}
