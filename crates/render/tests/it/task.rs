use prose_harness::Limits;
use prose_render::{LeaseError, task};

use crate::{files, lease, pin};

#[test]
fn a_task_holds_what_was_pinned_and_what_to_do() {
    let spec = task(&lease(), &Limits::default()).unwrap();
    let [news, views] = &spec.inputs[..] else { panic!("two needs") };
    assert!(!news.fan_in && views.fan_in);
    let funding = news.sources[0].files.as_ref().unwrap();
    assert_eq!(funding.get("funding/truth.json").unwrap().as_ref(), b"{}");
    assert_eq!(news.sources[0].receipt.as_deref(), Some("blake3:r"));
    assert_eq!((&news.sources[1].files, &news.sources[1].fingerprint), (&None, &None));
    assert_eq!(views.sources.len(), 2);

    let task = spec.task();
    assert_eq!((task.node.as_str(), task.attempt), ("brief", 3));
    assert_eq!((task.wake.source.as_str(), task.wake.cause.as_str()), ("input", "contract"));
    assert_eq!(task.wake.refs, ["blake3:w"]);
    assert_eq!(task.as_of, "2026-01-02T03:04:05.678Z");
    assert_eq!((task.attest[0].id.as_str(), task.attest[0].text.as_str()), ("c2", "it is fair"));
    assert_eq!(task.tools, ["cli:git"]);
    assert_eq!(task.facets, ["summary", "user"]);
    assert_eq!(task.environment, ["API_KEY"]);
    assert_eq!(task.functions, ["score"]);
    assert!(task.inputs[0].producers[0].published && !task.inputs[0].producers[1].published);
}

#[test]
fn leases_whose_parts_do_not_fit_are_told() {
    let mut stray = lease();
    stray.inputs.push(pin("other", "watch", "@atomic", None));
    let error = task(&stray, &Limits::default()).unwrap_err();
    assert!(matches!(error, LeaseError::UnknownNeed(need) if need == "other"));

    let mut broken = lease();
    broken.contract = "{}".into();
    let error = task(&broken, &Limits::default()).unwrap_err();
    assert!(matches!(error, LeaseError::Contract(_)));

    let mut outside = lease();
    outside.prior = Some(files(&[("../truth.json", "{}")]));
    let error = task(&outside, &Limits::default()).unwrap_err();
    assert!(matches!(error, LeaseError::Path(_)));
}
