//! Needs find their producers by what the words say.

use crate::support::{codes, compile, edges};

const NEWS: (&str, &str) = (
    "news.prose.md",
    "---\nname: daily-news\nkind: gateway\n---\n\n# The Morning Paper\n\n### Maintains\n\nThe `NewsLedger` world-model.\n\n- `stories`: the stories\n\n#### headlines\nThe `title` of each.\n\n#### sport\nThe `scores`.\n\n#### topic:<tag>\nThe `stories` of a tag.\n",
);
const WEATHER: (&str, &str) = (
    "weather.prose.md",
    "---\nname: weather\nkind: gateway\n---\n### Maintains\n- `forecast`: the days ahead\n- `alerts`: what is dangerous\n",
);

fn reader(needs: &str) -> String {
    format!(
        "---\nname: reader\nkind: responsibility\n---\n### Requires\n{needs}\n### Maintains\n- `summary`: a text\n"
    )
}

/// Compiles a reader with these needs beside the two gateways.
fn wired(needs: &str) -> Vec<String> {
    let text = reader(needs);
    let compilation = compile(&[NEWS, WEATHER, ("reader.prose.md", &text)]);
    let errors: Vec<_> = compilation.errors().map(|d| d.message.clone()).collect();
    assert!(errors.is_empty(), "{needs}: {errors:?}");
    edges(&compilation).into_iter().map(|e| e.replace("reader <- ", "")).collect()
}

#[test]
fn the_forms_of_a_need() {
    for (needs, expected) in [
        ("- `headlines` from `daily-news`", &["daily-news.headlines"][..]),
        ("- `headlines`: what is on the front page", &["daily-news.headlines"]),
        ("- `daily-news.sport`: the scores", &["daily-news.sport"]),
        ("- `stories.sport`: the scores", &["daily-news.sport"]),
        ("- `forecast`: the days ahead", &["weather.@atomic"]),
        ("- `weather`", &["weather.@atomic"]),
        ("- the latest from **The Morning Paper**", &["daily-news.@atomic"]),
        ("- the latest from the daily news", &["daily-news.@atomic"]),
        (
            "- the sport and headlines facets of the daily news",
            &["daily-news.headlines", "daily-news.sport"],
        ),
        ("- the `sport` facet of `daily-news`, never `headlines`", &["daily-news.sport"]),
        (
            "- `paper`: the ledger. *(Maintained by `daily-news`, facet `sport`.)*",
            &["daily-news.sport"],
        ),
        ("- `NewsLedger`: all of it", &["daily-news.@atomic"]),
        ("- `daily-news` (atomic): all of it", &["daily-news.@atomic"]),
        ("- the `topic:<tag>` facet of `daily-news`, this tag only", &["daily-news.topic:<tag>"]),
        ("- `topic`: this reader's own topic", &["daily-news.topic:<tag>"]),
        ("#### sport\nThe scores.", &["daily-news.sport"]),
        ("The forecast of `weather`, as it stands.", &["weather.@atomic"]),
        ("- prior `summary`, read by reference\n- `weather`", &["weather.@atomic"]),
        ("- `weather` (context): only to look at", &[]),
        ("(none)", &[]),
    ] {
        assert_eq!(wired(needs), expected, "{needs}");
    }
}

#[test]
fn a_need_keeps_its_name_words_and_marks() {
    let text = reader(
        "- `sport` (optional): the\n  scores\n- the `headlines` of `daily-news` (context)\n- the sport facet of `daily-news`\n",
    );
    let compilation = compile(&[NEWS, ("reader.prose.md", &text)]);
    let needs = &compilation.bundle.unwrap().contracts["reader"].needs;
    let names: Vec<_> = needs.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["sport", "headlines", "sport-2"]);
    assert_eq!(needs[0].text, "sport (optional): the scores");
    assert!(needs[0].optional && !needs[0].context);
    assert!(needs[1].context && !needs[1].optional);
}

#[test]
fn a_need_nobody_meets_names_the_nearest() {
    let text = reader("- `forecats`: the days ahead");
    let compilation = compile(&[NEWS, WEATHER, ("reader.prose.md", &text)]);
    assert!(compilation.bundle.is_none());
    let error = compilation.errors().next().unwrap();
    assert_eq!((error.code.as_str(), error.line), ("requires_unsatisfied", 6));
    assert!(error.help.as_deref().unwrap().contains("`forecast`"));
}

#[test]
fn an_ambiguous_need_shows_the_candidates() {
    let south = WEATHER.1.replace("name: weather", "name: south");
    let text = reader("- `forecast`: the days ahead");
    let compilation = compile(&[WEATHER, ("south.prose.md", &south), ("reader.prose.md", &text)]);
    let error = compilation.errors().next().unwrap();
    let drawn = prose_contract::render(error, &compilation.sources[&error.path], false);
    let expected = "
error[requires_ambiguous]: several producers fit `forecast` equally: `south`, `weather`
 --> reader.prose.md:6:1
  |
6 | - `forecast`: the days ahead
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: name one, as in `facet` from `node`, or ask for every source of it";
    assert_eq!(drawn, expected.trim_start(), "\n{drawn}");
    assert!(edges(&compilation).is_empty());
}

#[test]
fn a_named_producer_that_does_not_exist_is_not_replaced() {
    for need in [
        "- `forecast`: the days ahead. (Maintained by `met-office`.)",
        "- `forecast` from `wether`: the days ahead",
    ] {
        let text = reader(need);
        let compilation = compile(&[WEATHER, ("reader.prose.md", &text)]);
        assert_eq!(codes(&compilation), ["requires_unsatisfied"], "{need}");
        assert!(edges(&compilation).is_empty());
    }
}

#[test]
fn emits_claims_what_is_left() {
    let gateway = "---\nname: review\nkind: gateway\n---\n### Maintains\n- `day`: the day\n### Emits\n- reader\n";
    let text = reader("- `inventory`: what is in stock\n- `plans`: what is planned");
    let compilation = compile(&[("review.prose.md", gateway), ("reader.prose.md", &text)]);
    assert_eq!(edges(&compilation), ["reader <- review.@atomic"]);
    let needs = &compilation.bundle.unwrap().contracts["reader"].needs;
    assert_eq!(needs.len(), 2);
    assert!(needs.iter().all(|n| n.slots[0].wiring == prose_ir::Wiring::Emits));
}

#[test]
fn a_context_need_closes_no_ring() {
    let node = |name: &str, need: &str, field: &str| {
        format!(
            "---\nname: {name}\nkind: responsibility\n---\n### Requires\n- {need}\n### Maintains\n- `{field}`: x\n"
        )
    };
    let (a, b) = (node("a", "`right`", "left"), node("b", "`left`", "right"));
    let ring = compile(&[("a.prose.md", &a), ("b.prose.md", &b)]);
    assert_eq!(codes(&ring), ["topology_cyclic"]);
    assert!(!ring.topology().acyclic && ring.bundle.is_none());

    let b = node("b", "`left` (context)", "right");
    let open = compile(&[("a.prose.md", &a), ("b.prose.md", &b)]);
    assert_eq!(edges(&open), ["a <- b.@atomic"]);
    assert!(open.bundle.is_some());
}
