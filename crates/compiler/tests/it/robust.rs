//! No source set makes the compiler panic, and what it gives out keeps the manifest's rules.

use proptest::prelude::*;

use crate::support::compile;

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("### Requires".to_owned()),
        Just("### Maintains".to_owned()),
        Just("### Continuity: self-driven every 6h".to_owned()),
        Just("### Execution\n```prose\nlet x = call a\n```".to_owned()),
        Just("### Emits\n- b".to_owned()),
        Just("## inline\n### Maintains\n- `x`: y".to_owned()),
        "#### [a-c](:<id>|:[a-c])?",
        "- `[a-c]`: (every )?`[a-c]`( facet)? (of|from) `[a-c](\\.[a-c])?`(, never `[a-c]`)?",
        "- `[a-c]`: postcondition: `self\\.[a-c] > [0-9]`",
        "Material: `[a-c]`(, `[a-c]`)? \\(set\\)\\. immaterial: `[a-c]`",
        ".{0,30}",
    ]
}

fn contract() -> impl Strategy<Value = String> {
    let kind = prop_oneof![Just("responsibility"), Just("gateway"), Just("function")];
    (kind, prop::collection::vec(line(), 0..12))
        .prop_map(|(kind, lines)| format!("kind: {kind}\n---\n{}\n", lines.join("\n")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_source_set(contracts in prop::collection::vec(contract(), 1..4)) {
        let names = ["a", "b", "c"];
        let texts: Vec<String> = contracts.iter().zip(names).map(|(c, n)| format!("---\nname: {n}\n{c}")).collect();
        let paths = ["a.prose.md", "b.prose.md", "c.prose.md"];
        let files: Vec<(&str, &str)> = paths.into_iter().zip(texts.iter().map(String::as_str)).collect();
        let compilation = compile(&files);
        prop_assert!(compilation.diagnostics.iter().all(|d| d.code.as_str() != "manifest_invalid"));
        prop_assert_eq!(compilation.bundle.is_some(), compilation.errors().next().is_none());
        prop_assert!(compilation.topology().edges.iter().all(|e| e.subscriber != e.producer));
        prop_assert_eq!(compile(&files).bundle, compilation.bundle);
    }
}

/// One bullet or paragraph of a megabyte costs no more than many small ones.
#[test]
fn time_is_linear_in_the_length_of_a_text() {
    let shapes = [
        ("Requires", "- `x`: ", "of `a`, not `b`; "),
        ("Requires", "", "- `x`: y\n"),
        ("Maintains", "Material: ", "`a` (set); `b` is immaterial but "),
        ("Maintains", "", "- `f`: postcondition: x. Postcondition: y. "),
        ("Maintains", "", "Postcondition: `self.a > 1`. "),
        ("Continuity", "", "every `* * * * *` self-driven "),
    ];
    for (section, start, unit) in shapes {
        let count = 120_000 / unit.len();
        let text = format!(
            "---\nname: x\nkind: responsibility\n---\n### {section}\n{start}{}\n",
            unit.repeat(count)
        );
        let begin = std::time::Instant::now();
        compile(&[("x.prose.md", &text)]);
        let took = begin.elapsed();
        assert!(took < std::time::Duration::from_secs(10), "{unit}: {took:?}");
    }
}
