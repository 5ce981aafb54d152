//! What one contract lowers to.

use prose_contract::Severity;
use prose_ir::{Bundle, Cadence, Judge, Route, RuleKind, ToolKind, WakeMode, WakeSource};

use crate::support::{codes, compile, host};

fn bundle(text: &str) -> Bundle {
    let compilation = compile(&[("node.prose.md", text)]);
    let errors: Vec<_> = compilation.errors().map(|d| d.message.clone()).collect();
    compilation.bundle.unwrap_or_else(|| panic!("{errors:?}"))
}

fn monitor(maintains: &str) -> Bundle {
    bundle(&format!("---\nname: node\nkind: responsibility\n---\n### Maintains\n\n{maintains}\n"))
}

#[test]
fn fields_facets_and_structure() {
    let bundle = monitor(
        "- `name`: who\n- `a` / `b`: two\n- `note` (optional): x\n- `extra`: more (optional)\n- immaterial: `a`\n\n#### funding\nx\n\n#### user:<login>\ny\n",
    );
    let contract = &bundle.contracts["node"];
    assert_eq!(contract.fields, ["name", "a", "b", "extra"]);
    assert_eq!(contract.facets, ["funding", "user:<login>"]);
    let structure = &bundle.postconditions["node"].structure;
    assert_eq!(structure.fields, ["name", "a", "b"]);
    assert_eq!(structure.facets, ["funding", "user"]);
    assert_eq!(bundle.canonicalizers["node"].facets[1].family.as_deref(), Some("user"));
    assert_eq!(bundle.manifest.canonicalizers[0].facets, ["@atomic", "funding", "user:<login>"]);
}

#[test]
fn materiality() {
    let bundle = monitor(
        "- `score`: to the nearest 10\n- immaterial (everywhere): `fetched_at`, `request.id`\n- `seen_at` — an immaterial marker\n- excluded from the fingerprint: `html`\n\nEach has a stable `name`; `etag` and request ids are immaterial everywhere. A `title` is case-insensitive.\n\n\
         #### funding\nMaterial: the event set (unordered) and each event's `round` and `amount` rounded to 0.01. A lapse flips `shipped`, which is material.\n\n\
         #### hiring\nMaterial: everything except `recruiter`. The `roles` list is as given.\n\n\
         #### prose\nWhatever was said; `a` counts like `b`.\n",
    );
    let canonicalizer = &bundle.canonicalizers["node"];
    assert_eq!(canonicalizer.immaterial, ["etag", "fetched_at", "html", "id", "seen_at"]);
    let rules: Vec<_> =
        canonicalizer.rules.iter().map(|r| (r.field.as_deref(), r.kind.clone())).collect();
    assert_eq!(
        rules,
        [(Some("score"), RuleKind::Quantum(10.0)), (Some("title"), RuleKind::CaseInsensitive)]
    );
    let [funding, hiring, prose] = canonicalizer.facets.as_slice() else {
        panic!("three facets");
    };
    assert_eq!(funding.only.as_deref().unwrap(), ["round", "amount", "shipped"]);
    assert_eq!(funding.rules[0].field, None);
    assert_eq!(funding.rules[1].field.as_deref(), Some("amount"));
    assert_eq!(
        (&hiring.only, hiring.immaterial.as_slice()),
        (&None, &["recruiter".to_owned()][..])
    );
    assert_eq!((&prose.only, prose.immaterial.len()), (&None, 0));
}

#[test]
fn what_is_not_plainly_immaterial_stays() {
    for text in [
        "The `name` is not immaterial.",
        "Nothing is immaterial: `name` counts.",
        "- immaterial: delivery times",
        "A `name` whose change would be immaterial to most.",
    ] {
        let bundle = monitor(&format!("{text}\n"));
        assert!(bundle.canonicalizers["node"].immaterial.is_empty(), "{text}");
    }
}

#[test]
fn valid_until_drives_the_clock_unless_it_is_said_to_count() {
    let bundle = monitor("- `valid_until`: when to look again\n");
    assert_eq!(bundle.canonicalizers["node"].immaterial, ["valid_until"]);
    let bundle = monitor("- `rows`: x\n\n#### offer\nMaterial: `price`, `valid_until`.\n");
    assert!(bundle.canonicalizers["node"].immaterial.is_empty());
}

#[test]
fn postconditions() {
    let bundle = monitor(
        "- `rows`: x\n- postcondition: the `rows` are\n  complete\n\nSome truth. Postcondition: every row has a source: `self.rows.all(r, size(r.sources) > 0)`. **Postcondition:** none is older than `prior.day`.\n\n#### part\nPostcondition: `self.part.n >= 0`\n",
    );
    let checks = &bundle.postconditions["node"].checks;
    let judges: Vec<_> = checks.iter().map(|c| c.judge.clone()).collect();
    assert_eq!(
        judges,
        [
            Judge::Render,
            Judge::Cel("self.rows.all(r, size(r.sources) > 0)".into()),
            Judge::Render,
            Judge::Cel("self.part.n >= 0".into()),
        ]
    );
    assert!(checks.iter().all(|c| c.id.starts_with("pc-")));
    for check in checks {
        if let Judge::Cel(source) = &check.judge {
            prose_truth::Expression::parse(source).unwrap();
        }
    }
    let rewrapped = monitor("- `rows`: x\n- postcondition: the\n  `rows` are complete\n");
    assert_eq!(rewrapped.postconditions["node"].checks[0].id, checks[0].id);
}

/// What this compiler takes for decidable, the commit gate must be able to decide.
#[test]
fn the_gate_takes_what_the_compiler_takes() {
    for expression in [
        "self.a.format(['x']) == 'y'",
        "self.a.replace('x', 'y') == 'y'",
        "type(self.a) == string",
        "self.items.exists(i, i.ok) || has(prior.x)",
        "self.frob(1)",
        "inputs.x.size() in [1, 2]",
        "self.a.all(x)",
    ] {
        let text = format!("- `rows`: x\n\nPostcondition: fine: `{expression}`\n");
        let compiled =
            matches!(monitor(&text).postconditions["node"].checks[0].judge, Judge::Cel(_));
        assert_eq!(compiled, prose_truth::Expression::parse(expression).is_ok(), "{expression}");
    }
}

#[test]
fn a_broken_expression_warns_and_is_attested() {
    let text = "---\nname: node\nkind: responsibility\n---\n### Maintains\n- `rows`: x\n- postcondition: fine: `self.rows.all(r, q > 1)`\n";
    let compilation = compile(&[("node.prose.md", text)]);
    assert_eq!(codes(&compilation), ["postcondition_invalid"]);
    let bundle = compilation.bundle.unwrap();
    assert_eq!(bundle.postconditions["node"].checks[0].judge, Judge::Render);
    assert_eq!(bundle.manifest.postconditions[0].mode, prose_ir::PostconditionMode::RenderAttested);
}

#[test]
fn continuity() {
    let read = |text: &str| {
        let bundle = bundle(&format!(
            "---\nname: node\nkind: responsibility\n---\n### Maintains\n- `rows`: x\n### Continuity\n{text}\n"
        ));
        let contract = bundle.contracts["node"].clone();
        (contract.wake_modes, contract.cadences, bundle.manifest.topology.nodes[0].wake_source)
    };
    let cron = |e: &str| Cadence::Cron { expression: e.into(), zone: "Europe/Berlin".into() };
    use WakeMode::{Input, Own};
    assert_eq!(
        read("- self-driven: every 6h"),
        (vec![Own], vec![Cadence::EverySeconds(21600)], WakeSource::Own)
    );
    assert_eq!(
        read("- input-driven\n- self-driven: daily at 09:00 Europe/Berlin"),
        (vec![Input, Own], vec![cron("0 9 * * *")], WakeSource::Input)
    );
    assert_eq!(read("- self-driven: `*/5 * * * *` Europe/Berlin").1, [cron("*/5 * * * *")]);
    assert_eq!(
        read("- input-driven, within the daily budget"),
        (vec![Input], vec![], WakeSource::Input)
    );
    assert_eq!(read("- self-driven: when the mood strikes").1, [Cadence::ValidUntil]);
}

#[test]
fn a_gateway() {
    let bundle = bundle(
        "---\nname: node\nkind: gateway\n---\n### Goal\nLet\nevents in.\n### Receives\n- POST /hooks/github: a push\n- `GET /feed`\n- nats: prices.eu\n- file: inbox\n- Provider: GitHub\n### Schedule\n- Every weekday at 08:00.\n### Maintains\n- `rows`: x\n",
    );
    let contract = &bundle.contracts["node"];
    let http = |method: &str, path: &str| Route::Http { method: method.into(), path: path.into() };
    assert_eq!(
        contract.routes,
        [
            http("POST", "/hooks/github"),
            http("GET", "/feed"),
            Route::Nats("prices.eu".into()),
            Route::File("inbox".into())
        ]
    );
    assert_eq!(contract.goal.as_deref(), Some("Let events in."));
    assert!(!contract.execution);
    assert_eq!(contract.wake_modes, [WakeMode::External]);
    assert_eq!(contract.cadences.len(), 1);
    assert_eq!(bundle.manifest.topology.entry_points, ["node"]);
}

#[test]
fn a_node_needs_what_its_functions_need() {
    let text = "---\nname: node\nkind: responsibility\n---\n### Maintains\n- `rows`: x\n### Tools\n- `cli:jq`: for JSON\n### Runtime\n- `model`: small\n### Execution\n```prose\nlet a = call one\n```\n\n## one\n### Returns\n- `x`: y\n### Tools\n- mcp:mail\n### Environment\n- `API_KEY`: the key\n### Execution\n```prose\ncall two\n```\n\n## two\n### Returns\n- `x`: y\n\n## unused\n### Returns\n- `x`: y\n";
    let bundle = bundle(text);
    let contract = &bundle.contracts["node"];
    let tools: Vec<_> = contract.tools.iter().map(|t| (t.kind, t.name.as_str())).collect();
    assert_eq!(tools, [(ToolKind::Cli, "jq"), (ToolKind::Mcp, "mail")]);
    assert_eq!(contract.environment, ["API_KEY"]);
    assert_eq!(contract.runtime["model"], "small");
    assert_eq!(contract.functions.keys().collect::<Vec<_>>(), ["one", "two"]);
    assert!(contract.functions["two"].starts_with("## two\n"));
    assert!(contract.execution);
}

#[test]
fn what_the_host_does_not_have_is_an_error() {
    let text = "---\nname: node\nkind: gateway\n---\n### Maintains\n- `rows`: x\n### Environment\n- `PROSE_TEST_NEVER_SET`: x\n- `not a name`: x\n### Tools\n- `cli:sh`\n- `cli:no-such-thing-xyz`\n";
    let sources = [("node.prose.md".to_owned(), text.as_bytes().to_vec())].into();
    let compilation = prose_compiler::compile_sources(&sources, &host());
    assert_eq!(
        codes(&compilation),
        ["environment_unset", "environment_invalid", "tool_unresolved"]
    );
}

#[test]
fn severities_of_ids() {
    let text = |id: &str| format!("---\nname: node\nkind: gateway\nid: {id}\n---\n");
    for (id, severity) in [
        ("node", Some(Severity::Warning)),
        ("067NC4KG01RG50R40M30E2091I", Some(Severity::Error)),
        ("067NC4KG01RG50R40M30E20918", None),
    ] {
        let compilation = compile(&[("node.prose.md", &text(id))]);
        let found = compilation.diagnostics.iter().find(|d| d.code.as_str() == "id_invalid");
        assert_eq!(found.map(|d| d.severity), severity, "{id}");
    }
}
