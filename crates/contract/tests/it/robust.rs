//! No input makes the reader panic, and spans stay inside what it was given.

use proptest::prelude::*;
use prose_contract::{Block, Parsed, parse, render};

const SAMPLE: &str = "---\nname: node\nkind: responsibility\nid: 067NC4KG01RG50R40M30E20918\n---\n\n# Title [x]\n\n### Requires\n\n- `a`: the **bold** `b` <i>c</i>\n  - nested &lt;x&gt;\n\n### Maintains\n\n- `rows`: x\n\n#### user:<login>\nText.\n\n```prose\ncall x\n```\n\n## inline\n\n### Returns\n\n- `y`: z\n";

fn check(bytes: &[u8]) {
    let Parsed { text, file, diagnostics } = parse("x.prose.md", bytes);
    for diagnostic in &diagnostics {
        assert!(diagnostic.line >= 1);
        render(diagnostic, &text, false);
    }
    let Some(file) = file else {
        assert!(diagnostics.iter().any(|d| d.is_error()));
        return;
    };
    for entry in std::iter::once(&file.entry).chain(&file.inline) {
        assert!(text.get(entry.span.clone()).is_some());
        for block in entry.sections.iter().flat_map(|s| &s.blocks) {
            if let Some(prose) = block.prose() {
                assert!(text.get(prose.span.clone()).is_some());
                assert!(prose.marks.iter().all(|m| prose.text.get(m.range.clone()).is_some()));
                prose.item();
                prose.normalized(&mut String::new());
            }
            if let Block::Fence(fence) = block {
                assert!(fence.body_start <= text.len());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }

    #[test]
    fn any_text(text in "(---\n)?(\\PC|\n|`|#|- |<!--|\\*\\*){0,120}") {
        check(text.as_bytes());
    }

    #[test]
    fn any_body(body in "([#]{1,6} |- |> |`{1,4}|~~~|\\*\\*|<!--|-->|<a>|&lt;|\\[|\\]|\t| |\n|\r\n|é|x|:|---\n){0,80}") {
        check(format!("---\nname: x\nkind: gateway\n---\n{body}").as_bytes());
    }

    #[test]
    fn mutated_contracts(at in 0..SAMPLE.len(), length in 0usize..40, insert in "\\PC{0,6}|\n|```|---\n|\u{0}") {
        let mut bytes = SAMPLE.as_bytes().to_vec();
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, insert.bytes());
        check(&bytes);
    }
}

/// A doubled input takes about twice the time, also where nesting or repetition could multiply it.
#[test]
fn time_is_linear_on_hostile_input() {
    let shapes: [fn(usize) -> String; 6] = [
        |n| "- ".repeat(n),
        |n| "> ".repeat(n),
        |n| "`".repeat(n),
        |n| "**a ".repeat(n),
        |n| "### Maintains\n#### a\n".repeat(n),
        |n| "- `a`: `b` / `c`, `d`\n".repeat(n),
    ];
    for shape in shapes {
        let text = |n| format!("---\nname: x\nkind: gateway\n---\n### Requires\n{}", shape(n));
        let time = |n| {
            let text = text(n);
            let start = std::time::Instant::now();
            parse("x", text.as_bytes());
            start.elapsed()
        };
        time(500);
        let (small, large) = (time(4_000), time(32_000));
        // Anything quadratic takes minutes here; a busy machine does not.
        let bound = std::time::Duration::from_secs(5).max(small * 40);
        assert!(large < bound, "{:?}: {small:?} and {large:?}", &shape(3));
    }
}
