//! What is read of a file.

use prose_contract::{Block, Code, File, Kind, Parsed, Prose, SectionKind, Severity, parse};

fn read(text: &str) -> Parsed {
    parse("x.prose.md", text.as_bytes())
}

fn file(text: &str) -> File {
    let parsed = read(text);
    parsed.file.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

/// A responsibility with this body.
fn body(text: &str) -> File {
    file(&format!("---\nname: x\nkind: responsibility\n---\n{text}"))
}

fn found(text: &str) -> Vec<(&'static str, usize)> {
    let diagnostics = read(text).diagnostics;
    diagnostics.iter().map(|d| (d.code.as_str(), d.line)).collect()
}

fn prose(file: &File, kind: SectionKind) -> Vec<&Prose> {
    file.entry.sections(kind).flat_map(|s| s.prose()).collect()
}

#[test]
fn identity_and_entries() {
    let file = file(
        "\u{feff}---\r\nname: main-node\r\nkind: gateway\r\n---\r\n\r\n# Title [login]\r\n\r\n### Goal\r\n\r\nOne\r\ntwo.\r\n\r\n## helper\r\n\r\n### Returns\r\n\r\n- `x`: y\r\n\r\n## keeper\r\n\r\n### Maintains\r\n\r\n- `z`: w\r\n\r\n## notes\r\n\r\ntext\r\n",
    );
    assert_eq!(file.entry.name.value, "main-node");
    assert_eq!(file.entry.kind, Some(Kind::Gateway));
    assert_eq!(file.mount_parameter(), Some("login"));
    assert_eq!(prose(&file, SectionKind::Goal)[0].text, "One two.");
    let inline: Vec<_> = file.inline.iter().map(|e| (e.name.value.as_str(), e.kind)).collect();
    assert_eq!(
        inline,
        [("helper", Some(Kind::Function)), ("keeper", Some(Kind::Responsibility)), ("notes", None)]
    );
}

#[test]
fn spans_are_those_of_the_decoded_source() {
    let parsed = read(
        "---\nname: x\nkind: gateway\n---\n### Maintains\n- `rows`: the\n  rows\n\n## fn\n### Returns\n- `a`: b\n",
    );
    let file = parsed.file.unwrap();
    let item = prose(&file, SectionKind::Maintains)[0];
    assert!(parsed.text[item.span.clone()].starts_with("- `rows`: the"));
    assert_eq!(&parsed.text[file.inline[0].span.clone()], "## fn\n### Returns\n- `a`: b\n");
}

#[test]
fn bullets() {
    let file = body(
        "### Maintains\n- `a`: text\n- `b` — text\n- `c` / `d`: text\n- e: text\n- `f`\n- just words: here\n- `g` from x\n",
    );
    let items: Vec<_> = prose(&file, SectionKind::Maintains)
        .iter()
        .map(|p| p.item().map(|i| (i.names.join("+"), i.text.to_owned())))
        .collect();
    let item = |name: &str, text: &str| Some((name.to_owned(), text.to_owned()));
    assert_eq!(
        items,
        [
            item("a", "text"),
            item("b", "text"),
            item("c+d", "text"),
            item("e", "text"),
            item("f", ""),
            None,
            None,
        ]
    );
}

#[test]
fn blocks_keep_their_order_and_depth() {
    let file = body(
        "### Shape\n- one\n  - two\n\n    more of two\n- three\n\n> quoted\n\n```yaml\n# text\n### no heading\n```\n",
    );
    let blocks = &file.entry.sections[0].blocks;
    let shown: Vec<String> = blocks
        .iter()
        .map(|block| match block {
            Block::Item { depth, prose } => format!("{depth} {}", prose.text),
            Block::Paragraph(prose) => format!("p {}", prose.text),
            Block::Fence(fence) => format!("{} {:?}", fence.language, fence.body),
            Block::Heading { level, prose } => format!("h{level} {}", prose.text),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "1 one",
            "2 two more of two",
            "1 three",
            "p quoted",
            "yaml \"# text\\n### no heading\\n\""
        ]
    );
}

#[test]
fn headings() {
    let file = body(
        "### continuity: self-driven every 6h\n### Maintains\n#### user:<login>\n#### leaf:&lt;id&gt;\n##### deeper\n<!--\n#### hidden\n-->\nA line of text\n---\n### Mine: own\n",
    );
    let kinds: Vec<_> = file.entry.sections.iter().map(|s| s.kind).collect();
    assert_eq!(kinds, [SectionKind::Continuity, SectionKind::Maintains, SectionKind::Unknown]);
    assert_eq!(prose(&file, SectionKind::Continuity)[0].text, "self-driven every 6h");
    let (_, parts) = file.entry.sections[1].parts();
    let names: Vec<_> = parts.iter().map(|p| p.heading.text.as_str()).collect();
    assert_eq!(names, ["user:<login>", "leaf:<id>"]);
    assert!(file.inline.is_empty(), "a line over dashes opens no entry");
}

#[test]
fn frontmatter() {
    let invalid = |yaml: &str| found(&format!("---\n{yaml}\n---\n"));
    assert_eq!(invalid("name: a\nname: b"), [("frontmatter_invalid", 3)]);
    assert_eq!(invalid("name: &x a\nkind: *x")[0].0, "frontmatter_invalid");
    assert_eq!(invalid("name: [a]\nkind: gateway"), [("frontmatter_invalid", 2)]);
    assert_eq!(invalid("just words")[0].0, "frontmatter_invalid");
    assert_eq!(invalid("name: a\nkind: gateway\nowner: me"), [("frontmatter_unknown_key", 4)]);
    assert_eq!(invalid("name: ../a\nkind: gateway"), [("name_invalid", 2)]);
    assert_eq!(invalid("name: a\nkind: Gateway"), [("kind_unknown", 3)]);
    assert_eq!(found("--- \nname: a\nkind: gateway\n---"), []);
    let quoted = file("---\n\"name\": 'a'\nkind: \"gateway\"\nversion: 1.0\nid: 012\n---\n");
    assert_eq!(quoted.entry.name.value, "a");
    assert_eq!(quoted.frontmatter.version.unwrap().value, "1.0");
    assert_eq!(quoted.frontmatter.id.unwrap().value, "012");
    assert_eq!(quoted.id, None);
}

#[test]
fn what_one_file_is_told() {
    let text = "---\nname: x\nkind: function\n---\n### Maintains\n- `a`: b\n### Memory\n- x\n";
    assert_eq!(found(text), [("section_not_allowed", 5), ("section_retired", 7)]);
    let text = "---\nname: x\nkind: gateway\n---\n### Maintains\n#### a\n#### a\n#### @atomic\n#### b/c\n#### u:<x>\n#### u:<y>\n";
    assert_eq!(
        found(text),
        [
            ("facet_duplicate", 7),
            ("facet_reserved", 8),
            ("facet_invalid", 9),
            ("facet_duplicate", 11)
        ]
    );
    let text = "---\nname: x\nkind: gateway\n---\n### Execution\n````prose\n```\ntext\n";
    assert_eq!(found(text), [("fence_unclosed", 6)]);
}

#[test]
fn codes_are_unique_and_serialize_as_users_see_them() {
    let mut seen = std::collections::BTreeSet::new();
    for code in Code::ALL {
        assert!(seen.insert(code.as_str()));
        assert!(code.meaning().ends_with('.'));
    }
    let diagnostic = read("").diagnostics.remove(0);
    assert_eq!(diagnostic.severity, Severity::Error);
    let json = serde_json::to_value(&diagnostic).unwrap();
    assert_eq!(json["code"], "frontmatter_missing");
    assert_eq!(json["severity"], "error");
    assert_eq!((&json["line"], &json["span"]["start"]), (&1.into(), &0.into()));
}
