//! Once the producer is known: which of its facets a need means.

use prose_ir::{ATOMIC, Slot, Wiring};

use super::{Node, mentions::Mentions, need::RawNeed};
use crate::{lower::maintains::Facet, words::key};

/// The slots that `need` takes of `producer`.
pub(crate) fn of(
    producer: &Node,
    need: &RawNeed,
    mentions: &Mentions,
    wiring: Wiring,
) -> Vec<Slot> {
    let facets = &producer.maintains.facets;
    let name = producer.unit.name();
    let slot = |facet: &str| Slot { producer: name.to_owned(), facet: facet.to_owned(), wiring };
    if facets.is_empty() {
        return vec![slot(ATOMIC)];
    }
    let own = need.name.as_deref().map(key);
    if let Some(own) = &own {
        let named = family_of(facets, own);
        if !named.is_empty() {
            return named.into_iter().map(slot).collect();
        }
    }
    let mut chosen: Vec<&str> = Vec::new();
    for code in mentions.wanted() {
        for facet in by_code(facets, code.text, name) {
            if !chosen.contains(&facet) {
                chosen.push(facet);
            }
        }
    }
    if !chosen.is_empty() {
        return chosen.into_iter().map(slot).collect();
    }
    if mentions.is_atomic() || own.as_deref().is_some_and(|own| is_whole(producer, own)) {
        return vec![slot(ATOMIC)];
    }
    let in_words: Vec<&str> =
        facets.iter().filter(|f| mentions.has_words(&f.key)).map(|f| f.name.as_str()).collect();
    if in_words.is_empty() { vec![slot(ATOMIC)] } else { in_words.into_iter().map(slot).collect() }
}

/// The facets a name in backticks means: one by its name, also as `node.facet` or `field.facet`, a
/// family by its placeholder, the listed members of a family.
fn by_code<'a>(facets: &'a [Facet], code: &str, producer: &str) -> Vec<&'a str> {
    let code = code.strip_prefix(producer).and_then(|rest| rest.strip_prefix('.')).unwrap_or(code);
    let code = code.rsplit_once('.').map_or(code, |(_, facet)| facet);
    let by_key = || {
        let wanted = key(code);
        facets.iter().find(|f| f.key == wanted)
    };
    if let Some(facet) = facets.iter().find(|f| f.name == code).or_else(by_key) {
        return vec![&facet.name];
    }
    match code.split_once(':') {
        Some((prefix, member)) => {
            let family = family_of(facets, &key(prefix));
            let is_placeholder = member.starts_with('<') || member == "*";
            let declared: Vec<_> = family.iter().copied().filter(|f| f.contains('<')).collect();
            match (is_placeholder, declared.is_empty()) {
                (true, true) => family,
                (_, false) => declared,
                // A member that is not among those listed is none.
                (false, true) => Vec::new(),
            }
        }
        None => Vec::new(),
    }
}

/// The facets of a family by its prefix: the placeholder, or the members where they are listed.
fn family_of<'a>(facets: &'a [Facet], prefix: &str) -> Vec<&'a str> {
    let members = facets.iter().filter(|f| f.key.split_once(':').is_some_and(|(p, _)| p == prefix));
    members.map(|f| f.name.as_str()).collect()
}

/// Whether a need's name is that of the producer or of its whole truth.
fn is_whole(producer: &Node, own: &str) -> bool {
    let aliases = producer.maintains.aliases.iter().map(String::as_str);
    let fields = producer.maintains.fields.iter().map(String::as_str);
    std::iter::once(producer.unit.name()).chain(aliases).chain(fields).any(|name| key(name) == own)
}
