//! Diagnostics as people see them.

use prose_contract::{Diagnostic, Parsed, parse, render};

fn rendered(text: &str) -> String {
    let Parsed { text, diagnostics, .. } = parse("desk.prose.md", text.as_bytes());
    let shown: Vec<_> = diagnostics.iter().map(|d| render(d, &text, false)).collect();
    shown.join("\n\n")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let actual = rendered(text);
    assert_eq!(actual, expected.trim_matches('\n'), "\n{actual}\n");
}

#[test]
fn a_kind_that_is_none() {
    check(
        "---\nname: desk\nkind: servant\n---\n",
        "
error[kind_unknown]: `servant` is no kind of contract
 --> desk.prose.md:3:1
  |
3 | kind: servant
  | ^^^^^^^^^^^^^
  |
  = help: write `kind: responsibility`, `function`, `gateway`, `pattern` or `test`
",
    );
}

#[test]
fn a_facet_declared_twice() {
    check(
        "---\nname: desk\nkind: gateway\n---\n### Maintains\n#### mail\n#### mail\n",
        "
error[facet_duplicate]: the facet `mail` is declared twice
 --> desk.prose.md:7:1
  |
7 | #### mail
  | ^^^^^^^^^
",
    );
}

#[test]
fn a_remark_about_everything_has_no_excerpt() {
    let ring =
        prose_contract::Diagnostic { path: String::new(), ..parse("x", b"").diagnostics.remove(0) };
    assert!(render(&ring, "", false).starts_with("error[frontmatter_missing]: "));
}

#[test]
fn spans_out_of_place_are_clamped() {
    let base = parse("x.prose.md", b"").diagnostics.remove(0);
    for span in [0..999, 1..2, 998..999, 3..3] {
        let odd = Diagnostic { span, ..base.clone() };
        for source in ["", "é", "één\n", "\n\n\n"] {
            assert!(!render(&odd, source, true).is_empty());
        }
    }
}
