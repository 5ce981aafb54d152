//! `prose.toml` as commands see it.

use crate::support::{demo, prose_in};

#[test]
fn every_command_names_an_unknown_key_and_the_nearest_known_one() {
    let folder = demo();
    let config = folder.read("demo/prose.toml").replace("concurrency = 2", "concurency = 2");
    folder.write("demo/prose.toml", config);
    for command in ["compile", "up", "status", "topology", "doctor", "watch"] {
        let refused = prose_in(folder.root(), [command, "demo"])
            .refused("config_unknown_key", "demo/prose.toml:12: unknown key `run.concurency`");
        assert!(refused.err.contains("help: did you mean `run.concurrency`?"), "{}", refused.err);
        assert_eq!(refused.out, "");
    }
    let json = prose_in(folder.root(), ["status", "demo", "--json"]).code(2);
    let error: serde_json::Value = serde_json::from_str(&json.err).unwrap();
    assert_eq!(error["error"]["code"], "config_unknown_key");
}

#[test]
fn a_file_that_is_no_text_is_refused() {
    let folder = demo();
    folder.write("demo/prose.toml", b"source = \"\xff\"");
    prose_in(folder.root(), ["compile", "demo"]).refused("config_syntax", "not UTF-8");
    folder.write("demo/prose.toml", b"source = \"a\0b\"");
    prose_in(folder.root(), ["compile", "demo"]).refused("config_syntax", "demo/prose.toml:1");
}
