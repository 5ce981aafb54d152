//! Names as words: what counts as the same name. Exact but for case, separators and plural.

use std::ops::Range;

/// The form under which names are compared: lower case, words joined by `-`, singular. `CountTrend`,
/// `count_trends` and `Count Trend` all become `count-trend`. A colon is kept, as in `user:ada`.
pub(crate) fn key(name: &str) -> String {
    let mut key = String::with_capacity(name.len() + 4);
    let mut word = key.len();
    let mut before = ' ';
    for c in name.chars() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && before.is_lowercase() {
                end_word(&mut key, &mut word);
            }
            if word == key.len() && word > 0 && !key.ends_with([':', '-']) {
                key.push('-');
                word = key.len();
            }
            if c.is_ascii() {
                key.push(c.to_ascii_lowercase());
            } else {
                key.extend(c.to_lowercase());
            }
        } else if c == ':' {
            end_word(&mut key, &mut word);
            key.push(':');
            word = key.len();
        } else if c != '\'' {
            end_word(&mut key, &mut word);
        }
        before = c;
    }
    end_word(&mut key, &mut word);
    key
}

fn end_word(key: &mut String, word: &mut usize) {
    let length = singular(&key[*word..]);
    match length {
        Singular::Keep => {}
        Singular::Cut => {
            key.pop();
        }
        Singular::Y => {
            key.truncate(key.len() - 3);
            key.push('y');
        }
    }
    *word = key.len();
}

enum Singular {
    Keep,
    Cut,
    Y,
}

fn singular(word: &str) -> Singular {
    if word.len() <= 3
        || !word.ends_with('s')
        || word.ends_with("ss")
        || word.ends_with("us")
        || word.ends_with("is")
    {
        Singular::Keep
    } else if word.ends_with("ies") {
        Singular::Y
    } else {
        Singular::Cut
    }
}

/// The words of a text with their byte ranges; a hyphenated or underscored word is one word.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(|c: char| !(c.is_alphanumeric() || "-_:@".contains(c)))
        .filter(|w| w.chars().any(char::is_alphanumeric))
        .map(move |w| (w.as_ptr() as usize - text.as_ptr() as usize, w))
}

/// Whether `text` contains `phrase` as whole words, without regard to ASCII case.
pub(crate) fn contains_phrase(text: &str, phrase: &str) -> bool {
    find_phrase(text, phrase, 0).is_some()
}

/// The first place at or after `from` where `phrase` stands as whole words, without regard to
/// ASCII case.
pub(crate) fn find_phrase(text: &str, phrase: &str, from: usize) -> Option<usize> {
    let (haystack, needle) = (text.as_bytes(), phrase.as_bytes());
    let first = *needle.first()?;
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let last = (haystack.len() + 1).checked_sub(needle.len())?;
    let is_word = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut at = from;
    // Nearly every byte is passed over by this look alone.
    while let Some(next) = haystack.get(at..last)?.iter().position(|b| *b == lower || *b == upper) {
        at += next;
        let end = at + needle.len();
        if haystack[at..end].eq_ignore_ascii_case(needle)
            && !(at > 0 && is_word(haystack.get(at - 1)))
            && !is_word(haystack.get(end))
        {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The sentences of a text as byte ranges. A sentence ends at `.`, `!` or `?` before white space.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        let from = start;
        let ends = |at: usize| {
            matches!(bytes[at], b'.' | b'!' | b'?')
                && bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace)
                && !text[from..at].ends_with("e.g")
                && !text[from..at].ends_with("i.e")
        };
        let end = (from..bytes.len()).find(|at| ends(*at)).map_or(bytes.len(), |at| at + 1);
        start = (end + 1).min(bytes.len());
        (from < bytes.len()).then_some(from..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_in_many_spellings() {
        for name in ["CountTrend", "count_trends", "Count Trend", "count-trend"] {
            assert_eq!(key(name), "count-trend", "{name}");
        }
        assert_eq!(key("user:<login>"), "user:login");
        assert_eq!(key("thread-summaries"), "thread-summary");
        assert_eq!(key("status"), "status");
        assert_ne!(key("funding"), key("fundings-round"));
    }

    #[test]
    fn phrases_are_whole_words() {
        assert!(contains_phrase("It is Immaterial everywhere", "immaterial"));
        assert!(!contains_phrase("immaterial", "material"));
    }

    #[test]
    fn sentences_end_at_stops_before_space() {
        let text = "Version 0.1 is out. Good e.g. that. End";
        let parts: Vec<_> = sentences(text).map(|r| &text[r]).collect();
        assert_eq!(parts, ["Version 0.1 is out.", "Good e.g. that.", "End"]);
    }
}
