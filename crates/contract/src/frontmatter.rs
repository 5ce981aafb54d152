//! The YAML between two lines of dashes at the very start of a file.

use std::{borrow::Cow, fmt, ops::Range};

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

use crate::{Code, diagnostic::Report};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Bytes of the decoded source.
    pub span: Range<usize>,
}

/// The identity of a file as declared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frontmatter {
    /// `name`.
    pub name: Option<Spanned<String>>,
    /// `kind`, as written.
    pub kind: Option<Spanned<String>>,
    /// `id`, as written; see [`crate::File::id`] for the one that counts.
    pub id: Option<Spanned<String>>,
    /// `subject` of a test.
    pub subject: Option<Spanned<String>>,
    /// `version`, the author's own.
    pub version: Option<Spanned<String>>,
}

/// Frontmatter, and where the body begins.
pub(crate) struct Front {
    pub(crate) frontmatter: Frontmatter,
    pub(crate) body: usize,
}

const DASHES: &str = "---";

/// Cuts the frontmatter off and reads it. `None` when there is none that can be read.
pub(crate) fn split(text: &str, report: &mut Report) -> Option<Front> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != DASHES {
        report
            .add(
                Code::FrontmatterMissing,
                0..first.trim_end().len(),
                "the file does not start with frontmatter",
            )
            .help =
            Some("begin with a line `---`, then `name:` and `kind:`, then a line `---`".into());
        return None;
    }
    let start = first.len();
    let mut end = start;
    for line in lines {
        if line.trim_end() == DASHES {
            let body = end + line.len();
            let frontmatter = read(text, start..end, report)?;
            return Some(Front { frontmatter, body });
        }
        end += line.len();
    }
    report.add(Code::FrontmatterInvalid, 0..DASHES.len(), "the frontmatter is never closed").help =
        Some("close it with a line `---`".into());
    None
}

fn read(text: &str, range: Range<usize>, report: &mut Report) -> Option<Frontmatter> {
    let yaml = &text[range.clone()];
    let pairs = match pairs(yaml) {
        Ok(pairs) => pairs,
        Err(problem) => {
            let span =
                problem.line.map_or(0..DASHES.len(), |line| line_span(text, range.start, line));
            report.add(Code::FrontmatterInvalid, span, problem.message);
            return None;
        }
    };
    let mut front = Frontmatter::default();
    for (key, value) in pairs {
        let span = key_span(yaml, &key, range.start);
        let slot = match key.as_ref() {
            "name" => &mut front.name,
            "kind" => &mut front.kind,
            "id" => &mut front.id,
            "subject" => &mut front.subject,
            "version" => &mut front.version,
            _ => {
                let message = format!("`{key}` means nothing in the frontmatter");
                report.add(Code::FrontmatterUnknownKey, span, message);
                continue;
            }
        };
        *slot = value.map(|value| Spanned { value: value.into_owned(), span });
    }
    Some(front)
}

/// What is wrong, and the 1-based line of the YAML where it is known.
struct Problem {
    line: Option<usize>,
    message: String,
}

/// A key and its value; the value of a key that means nothing is left out.
type Pair<'y> = (Cow<'y, str>, Option<Cow<'y, str>>);

fn pairs(yaml: &str) -> Result<Vec<Pair<'_>>, Problem> {
    if let Some(pairs) = plain_pairs(yaml) {
        return Ok(pairs);
    }
    let options = serde_saphyr::options! {
        strict_booleans: true, leading_zero_numbers_as_strings: true, reject_unsupported_tags: true,
        duplicate_keys: DuplicateKeyPolicy::Error, merge_keys: MergeKeyPolicy::Error,
        budget: serde_saphyr::budget! {
            max_depth: 16, max_nodes: 4_000, max_anchors: 0, max_aliases: 0, max_documents: 1,
        },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<Pairs>(yaml, options).map(|pairs| pairs.0).map_err(
        |error| {
            let message = error.to_string();
            let not_a_map = message.contains("expected a map of keys");
            Problem {
                line: error
                    .location()
                    .filter(|_| !not_a_map)
                    .and_then(|at| usize::try_from(at.line()).ok()),
                message: format!(
                    "the frontmatter cannot be read: {}",
                    message.lines().next().unwrap_or_default()
                ),
            }
        },
    )
}

/// The usual case, `key: word` lines and nothing else, without a YAML parser. Whatever it does not
/// take for certain is left to the parser.
fn plain_pairs(yaml: &str) -> Option<Vec<Pair<'_>>> {
    let mut pairs: Vec<Pair> = Vec::new();
    for line in yaml.lines() {
        // A key holds no colon, so the first one must be its end.
        let (key, value) = line.split_once(':')?;
        let value = value.strip_prefix(' ')?;
        let value = value.trim_end_matches(' ');
        let is_key = !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase());
        let is_word = value.starts_with(|c: char| c.is_ascii_alphanumeric())
            && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        // `null` and its like are for the parser to judge.
        if !is_key
            || !is_word
            || value.eq_ignore_ascii_case("null")
            || pairs.iter().any(|(k, _)| k == key)
        {
            return None;
        }
        pairs.push((Cow::Borrowed(key), Some(Cow::Borrowed(value))));
    }
    (!pairs.is_empty()).then_some(pairs)
}

const KNOWN: [&str; 5] = ["name", "kind", "id", "subject", "version"];

struct Pairs(Vec<Pair<'static>>);

impl<'de> serde::Deserialize<'de> for Pairs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapOnly;
        impl<'de> Visitor<'de> for MapOnly {
            type Value = Pairs;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a map of keys")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    if KNOWN.contains(&key.as_str()) {
                        let value = map.next_value::<Option<String>>()?;
                        pairs.push((key.into(), value.map(Cow::Owned)));
                    } else {
                        map.next_value::<IgnoredAny>()?;
                        pairs.push((key.into(), None));
                    }
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(MapOnly)
    }
}

/// Top-level keys of a block map stand at the start of a line.
fn key_span(yaml: &str, key: &str, base: usize) -> Range<usize> {
    let mut at = 0;
    for line in yaml.split_inclusive('\n') {
        let quoted = line.trim_start_matches(['"', '\'']);
        if quoted
            .strip_prefix(key)
            .is_some_and(|rest| rest.trim_start_matches(['"', '\'', ' ']).starts_with(':'))
        {
            return base + at..base + at + line.trim_end().len();
        }
        at += line.len();
    }
    0..DASHES.len()
}

fn line_span(text: &str, base: usize, line: usize) -> Range<usize> {
    let rest = &text[base..];
    let start: usize = rest.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let length = rest[start..].lines().next().unwrap_or_default().len();
    base + start..base + start + length
}
