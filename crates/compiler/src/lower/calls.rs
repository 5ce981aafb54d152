//! Which functions a render body calls.

use std::{collections::BTreeSet, ops::Range};

use prose_contract::{Block, Entry, SectionKind};

/// One `call` statement of a fenced body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) callee: String,
    /// Bytes of the decoded source.
    pub(crate) span: Range<usize>,
}

/// The calls of the ProseScript fences of `### Execution`.
pub(crate) fn fenced(entry: &Entry) -> Vec<Call> {
    let mut calls = Vec::new();
    for block in entry.sections(SectionKind::Execution).flat_map(|s| &s.blocks) {
        if let Block::Fence(fence) = block
            && fence.language == "prose"
        {
            scan(&fence.body, fence.body_start, &mut calls);
        }
    }
    calls
}

/// Names behind `call` in backticks of an unfenced body: a hint that is taken where it names a
/// function, and no error where it does not.
pub(crate) fn mentioned(entry: &Entry) -> Vec<&str> {
    let prose = entry.sections(SectionKind::Execution).flat_map(|s| s.prose());
    prose
        .flat_map(|p| p.codes())
        .filter_map(|(_, code)| code.strip_prefix("call "))
        .map(|rest| rest.split(|c: char| !is_name(c)).next().unwrap_or_default())
        .collect()
}

/// Names that are bound inside the file: pattern instances of its yaml fences and loop variables.
pub(crate) fn bound(entry: &Entry) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for block in entry.sections.iter().flat_map(|s| &s.blocks) {
        let Block::Fence(fence) = block else { continue };
        for line in fence.body.lines() {
            let line = line.trim_start().trim_start_matches("- ");
            let name = match fence.language.as_str() {
                "yaml" | "yml" => line.strip_prefix("name:"),
                "prose" => {
                    ["for ", "parallel for ", "let "].iter().find_map(|w| line.strip_prefix(w))
                }
                _ => None,
            };
            let name = name.map(|n| n.trim_start().trim_matches(['"', '\'']));
            if let Some(name) = name.and_then(|n| n.split(|c: char| !is_name(c)).next()) {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.'
}

/// Finds `call <name>` outside comments and strings.
fn scan(body: &str, start: usize, calls: &mut Vec<Call>) {
    let bytes = body.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'#' => at += line_length(&body[at..]),
            b'"' if body[at..].starts_with("\"\"\"") => {
                at += 3;
                at += body[at..].find("\"\"\"").map_or(body.len() - at, |n| n + 3);
            }
            b'"' => at = string_end(bytes, at + 1),
            b'c' if is_call(body, at) => {
                let name_at = at
                    + 4
                    + (body[at + 4..].len() - body[at + 4..].trim_start_matches([' ', '\t']).len());
                let length =
                    body[name_at..].find(|c: char| !is_name(c)).unwrap_or(body.len() - name_at);
                if length > 0 {
                    let callee = body[name_at..name_at + length].to_owned();
                    calls.push(Call { callee, span: start + at..start + name_at + length });
                }
                at = name_at + length.max(1);
            }
            _ => at += 1,
        }
        while at < bytes.len() && !body.is_char_boundary(at) {
            at += 1;
        }
    }
}

fn is_call(body: &str, at: usize) -> bool {
    let before = body[..at].chars().next_back();
    !before.is_some_and(is_name)
        && body[at..].starts_with("call")
        && body[at + 4..].starts_with([' ', '\t'])
}

fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// A string ends at its quote, or with its line: an apostrophe too many must not hide the rest.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' => return at + 1,
            b'\n' => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(body: &str) -> Vec<String> {
        let mut calls = Vec::new();
        scan(body, 0, &mut calls);
        calls.into_iter().map(|c| c.callee).collect()
    }

    #[test]
    fn calls_outside_comments_and_strings() {
        let body = "# call a\nlet x = call b\n  t: \"call c\"\nsession \"\"\"\ncall d\n\"\"\"\nrecall e\ncall f(x)\n";
        assert_eq!(names(body), ["b", "f"]);
    }

    #[test]
    fn odd_endings_do_not_panic() {
        for body in ["call", "call ", "\"", "\"\\", "\"\"\"", "call é", "é call x"] {
            names(body);
        }
        assert_eq!(names("é call x"), ["x"]);
    }
}
