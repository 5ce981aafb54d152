use std::collections::BTreeMap;

use prose_api::v1::commit_request::Outcome;
use prose_render::{HarnessSpec, Harnesses};

use crate::{infrastructure, lease, no_jq, render, scripted};

fn only(node: &str, spec: HarnessSpec) -> Harnesses {
    Harnesses { default: None, nodes: BTreeMap::from([(node.to_owned(), spec)]), jq: no_jq() }
}

#[tokio::test]
async fn a_node_without_a_harness_is_told_what_to_configure() {
    let commit = render(lease(), &only("other", HarnessSpec::Jq { program: "x.jq".into() })).await;
    assert_eq!(
        infrastructure(commit),
        "no harness is configured for node `brief`; add [nodes.brief] to prose.toml"
    );
}

#[tokio::test]
async fn a_node_of_its_own_goes_before_the_default() {
    let mut harnesses = scripted("exit 9");
    let own = scripted(r#"echo '{"status": "failed", "reason": "own"}' > result.json"#).default;
    harnesses.nodes.insert("brief".to_owned(), own.unwrap());
    let commit = render(lease(), &harnesses).await;
    assert!(matches!(commit.outcome, Some(Outcome::Failed(_))));
}

#[tokio::test]
async fn a_broken_jq_program_shows_early_and_at_every_render() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("brief.jq");
    let harnesses = only("brief", HarnessSpec::Jq { program: file.clone() });
    assert_eq!(harnesses.check().unwrap_err().code(), "jq_program_unreadable");
    std::fs::create_dir(&file).unwrap();
    assert_eq!(harnesses.check().unwrap_err().code(), "jq_program_invalid");
    std::fs::remove_dir(&file).unwrap();
    std::fs::write(&file, "{a: ").unwrap();
    assert_eq!(harnesses.check().unwrap_err().code(), "jq_program_invalid");
    let reason = infrastructure(render(lease(), &harnesses).await);
    assert!(reason.starts_with(&format!("{} is no jq program: ", file.display())), "{reason}");
    std::fs::write(&file, "{a: 1}").unwrap();
    harnesses.check().unwrap();
}
