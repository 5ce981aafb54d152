//! The names of subjects, and nothing that builds one elsewhere.
//!
//! Names of pools, reactors, nodes and facets are any text; in a subject each is one token of
//! letters, digits, `_`, `-` and `=XX` for every other byte.

use std::fmt;

const WORK: &str = "prose.work";
const RECEIPT: &str = "prose.receipt";
const LEDGER: &str = "prose.ledger";

/// A complete subject: what a message is published on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject(String);

/// A pattern over subjects: `*` stands for one token, a last `>` for one or more.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Filter(String);

/// A text that is not a subject or not a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid subject")]
pub struct Malformed(String);

/// A ready node: `prose.work.<pool>.<reactor>.<node>`.
pub fn work(pool: &str, reactor: &str, node: &str) -> Subject {
    build(WORK, &[pool, reactor, node])
}

/// A moved facet: `prose.receipt.<reactor>.<node>.<facet>`.
pub fn receipt(reactor: &str, node: &str, facet: &str) -> Subject {
    build(RECEIPT, &[reactor, node, facet])
}

/// Every receipt of a node: `prose.ledger.<reactor>.<node>`.
pub fn ledger(reactor: &str, node: &str) -> Subject {
    build(LEDGER, &[reactor, node])
}

/// All work of a pool.
pub fn all_work(pool: &str) -> Filter {
    Filter(format!("{WORK}.{}.>", encode(pool)))
}

/// Every moved facet of a reactor.
pub fn all_receipts(reactor: &str) -> Filter {
    Filter(format!("{RECEIPT}.{}.>", encode(reactor)))
}

/// Every receipt of a reactor.
pub fn all_ledger(reactor: &str) -> Filter {
    Filter(format!("{LEDGER}.{}.>", encode(reactor)))
}

/// What a subject means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// See [`work`].
    Work {
        /// The pool whose workers may take it.
        pool: String,
        /// The reactor.
        reactor: String,
        /// The ready node.
        node: String,
    },
    /// See [`receipt`].
    Receipt {
        /// The reactor.
        reactor: String,
        /// The node that moved.
        node: String,
        /// The facet that moved.
        facet: String,
    },
    /// See [`ledger`].
    Ledger {
        /// The reactor.
        reactor: String,
        /// The node with a new receipt.
        node: String,
    },
}

impl Subject {
    /// Reads a subject: tokens of printable ASCII, without wildcards, separated by dots.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let well_formed = text.split('.').all(is_token);
        if well_formed { Ok(Self(text.to_owned())) } else { Err(Malformed(text.to_owned())) }
    }

    /// The textual form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the subject means; `None` for one that this module did not build.
    pub fn meaning(&self) -> Option<Meaning> {
        let tokens: Vec<&str> = self.0.split('.').collect();
        Some(match *tokens.as_slice() {
            ["prose", "work", pool, reactor, node] => Meaning::Work {
                pool: decode(pool)?,
                reactor: decode(reactor)?,
                node: decode(node)?,
            },
            ["prose", "receipt", reactor, node, facet] => Meaning::Receipt {
                reactor: decode(reactor)?,
                node: decode(node)?,
                facet: decode(facet)?,
            },
            ["prose", "ledger", reactor, node] => {
                Meaning::Ledger { reactor: decode(reactor)?, node: decode(node)? }
            }
            _ => return None,
        })
    }
}

impl Filter {
    /// Reads a filter.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let tokens: Vec<&str> = text.split('.').collect();
        let (last, init) = tokens.split_last().ok_or_else(|| Malformed(text.to_owned()))?;
        let fits = |token: &str| token == "*" || is_token(token);
        if init.iter().all(|token| fits(token)) && (fits(last) || *last == ">") {
            Ok(Self(text.to_owned()))
        } else {
            Err(Malformed(text.to_owned()))
        }
    }

    /// The textual form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a subject fits.
    pub fn matches(&self, subject: &Subject) -> bool {
        let mut tokens = subject.0.split('.');
        for pattern in self.0.split('.') {
            match (pattern, tokens.next()) {
                (">", Some(_)) => return true,
                ("*", Some(_)) => {}
                (pattern, Some(token)) if pattern == token => {}
                _ => return false,
            }
        }
        tokens.next().is_none()
    }
}

impl From<&Subject> for Filter {
    fn from(subject: &Subject) -> Self {
        Self(subject.0.clone())
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subject({})", self.0)
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Filter({})", self.0)
    }
}

/// Writes any text as one token. Different texts give different tokens.
pub fn encode(name: &str) -> String {
    if name.is_empty() {
        // A token may not be empty, and a lone `=` stands for nothing else.
        return "=".to_owned();
    }
    let mut token = String::with_capacity(name.len());
    for byte in name.bytes() {
        if is_plain(byte) {
            token.push(char::from(byte));
        } else {
            token.push_str(&format!("={byte:02X}"));
        }
    }
    token
}

/// Reads what [`encode`] wrote; `None` for any other text.
pub fn decode(token: &str) -> Option<String> {
    if token == "=" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'=' {
            let (high, low) = (rest.next()?, rest.next()?);
            bytes.push(hex_digit(high)? << 4 | hex_digit(low)?);
        } else {
            bytes.push(byte);
        }
    }
    let name = String::from_utf8(bytes).ok()?;
    // Each name has one token only, so that equal names are equal subjects.
    (encode(&name) == token).then_some(name)
}

fn build(prefix: &str, names: &[&str]) -> Subject {
    let mut subject = prefix.to_owned();
    for name in names {
        subject.push('.');
        subject.push_str(&encode(name));
    }
    Subject(subject)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_token(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic() && b != b'*' && b != b'>')
}

fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_become_single_tokens() {
        assert_eq!(
            receipt("main", "a.b c", "@atomic").as_str(),
            "prose.receipt.main.a=2Eb=20c.=40atomic"
        );
        assert_eq!(work("", "r", "*>").as_str(), "prose.work.=.r.=2A=3E");
    }

    #[test]
    fn other_texts_are_no_tokens() {
        for bad in ["", "a b", "=4", "=4x", "=41", "=2e", "=FF", "é", "a=", "=="] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    #[test]
    fn filters_follow_the_rules_of_wildcards() {
        let subject = Subject::parse("prose.ledger.r.n").unwrap();
        for (filter, fits) in [
            ("prose.ledger.r.n", true),
            ("prose.*.*.n", true),
            ("prose.>", true),
            (">", true),
            ("prose.ledger.r.n.>", false),
            ("prose.ledger.r", false),
            ("prose.ledger.r.n.*", false),
            ("prose.ledger.*.m", false),
        ] {
            assert_eq!(Filter::parse(filter).unwrap().matches(&subject), fits, "{filter}");
        }
        for bad in ["", "a..b", "a.>.b", "a*", "a b"] {
            assert!(Filter::parse(bad).is_err(), "{bad}");
        }
        assert!(Subject::parse("a.*").is_err());
    }

    proptest! {
        #[test]
        fn any_names_survive_a_subject(pool: String, reactor: String, node: String) {
            let subject = work(&pool, &reactor, &node);
            prop_assert_eq!(Subject::parse(subject.as_str()), Ok(subject.clone()));
            prop_assert!(all_work(&pool).matches(&subject));
            prop_assert_eq!(subject.meaning(), Some(Meaning::Work { pool, reactor, node }));
        }

        #[test]
        fn a_token_that_decodes_is_the_token_of_its_name(token in "[=0-9A-Fa-f_-]{0,8}") {
            if let Some(name) = decode(&token) {
                prop_assert_eq!(encode(&name), token);
            }
        }
    }
}
