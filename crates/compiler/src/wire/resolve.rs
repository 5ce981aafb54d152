//! The rules, in order; the first that yields exactly one producer wins.

use prose_contract::{Code, Diagnostic};
use prose_ir::{Slot, Wiring};

use super::{Index, Node, facets, mentions::Mentions, need::RawNeed};
use crate::words::key;

/// Resolves the needs of one node.
pub(crate) struct Resolver<'a> {
    pub(crate) nodes: &'a [Node<'a>],
    pub(crate) index: &'a Index<'a>,
    pub(crate) subscriber: usize,
}

/// Why a need has no producer.
pub(crate) enum Failure {
    /// Nobody maintains it.
    Unsatisfied {
        /// The producer it names, which does not exist.
        named: Option<String>,
    },
    /// Several do.
    Ambiguous(Vec<usize>),
}

type Found = Result<Option<Vec<Slot>>, Failure>;

impl Resolver<'_> {
    pub(crate) fn resolve(&self, need: &RawNeed) -> Result<Vec<Slot>, Failure> {
        let mentions = Mentions::new(&need.prose);
        let rules: [fn(&Self, &RawNeed, &Mentions) -> Found; 5] =
            [Self::by_remark, Self::by_producer, Self::by_name, Self::by_words, Self::by_codes];
        for rule in rules {
            if let Some(mut slots) = rule(self, need, &mentions)? {
                slots.sort();
                slots.dedup();
                return Ok(slots);
            }
        }
        Err(Failure::Unsatisfied { named: None })
    }

    /// Rule 1, said in a remark. A producer that is named and does not exist is not replaced.
    fn by_remark(&self, need: &RawNeed, mentions: &Mentions) -> Found {
        let Some(codes) = mentions.remark() else {
            return Ok(None);
        };
        let producers: Vec<usize> = self.others(codes.iter().filter_map(|c| self.producer(c.text)));
        if producers.is_empty() {
            let named = Some(codes[0].text.to_owned());
            return Err(Failure::Unsatisfied { named });
        }
        Ok(Some(self.slots(&producers, need, mentions, Wiring::Named)))
    }

    /// Rule 1: a producer in backticks or bold, or "from X".
    fn by_producer(&self, need: &RawNeed, mentions: &Mentions) -> Found {
        if let Some(source) = mentions.source()
            && self.producer(source.text).or(self.index.node_or_title(&source.key)).is_none()
        {
            // A misspelt name must not be replaced by whoever else has such a facet.
            return Err(Failure::Unsatisfied { named: Some(source.text.to_owned()) });
        }
        let codes = mentions.wanted().filter(|c| c.range.start < mentions.first);
        let mut producers = self.others(codes.filter_map(|c| self.producer(c.text)));
        if producers.is_empty() {
            producers =
                self.others(mentions.strong().filter_map(|s| self.index.node_or_title(&key(s))));
        }
        if producers.is_empty() {
            producers = self.others(mentions.in_words(self.index, true).into_iter());
        }
        Ok((!producers.is_empty()).then(|| self.slots(&producers, need, mentions, Wiring::Named)))
    }

    /// Rules 2 to 4: the need's own name is a facet, a field, a node, a family.
    fn by_name(&self, need: &RawNeed, mentions: &Mentions) -> Found {
        let Some(name) = &need.name else {
            return Ok(None);
        };
        if let Some((field, facet)) = name.split_once('.')
            && let Some(producer) = self.dotted(field, facet)
        {
            return Ok(Some(self.slots(&[producer], need, mentions, Wiring::Named)));
        }
        self.by_key(&key(name), need, mentions)
    }

    fn by_key(&self, key: &str, need: &RawNeed, mentions: &Mentions) -> Found {
        let facets: Vec<_> =
            self.index.facets(key).iter().filter(|(n, _)| *n != self.subscriber).collect();
        if !facets.is_empty() {
            let producers = self.others(facets.iter().map(|(n, _)| *n));
            let producers = self.settle(producers, mentions)?;
            let slots = facets.iter().filter(|(n, _)| producers.contains(n));
            return Ok(Some(slots.map(|(n, f)| self.slot(*n, *f)).collect()));
        }
        for (producers, wiring) in [
            (self.index.fields(key), Wiring::Field),
            (self.index.family(prefix(key)), Wiring::Family),
        ] {
            let producers = self.others(producers.iter().copied());
            if !producers.is_empty() {
                let producers = self.settle(producers, mentions)?;
                return Ok(Some(self.slots(&producers, need, mentions, wiring)));
            }
        }
        Ok(None)
    }

    /// A producer by its name or title in plain words.
    fn by_words(&self, need: &RawNeed, mentions: &Mentions) -> Found {
        let producers = self.others(mentions.in_words(self.index, false).into_iter());
        Ok((!producers.is_empty()).then(|| self.slots(&producers, need, mentions, Wiring::Named)))
    }

    /// Facets, fields and families in backticks inside the text; producers named further on.
    fn by_codes(&self, need: &RawNeed, mentions: &Mentions) -> Found {
        let own = need.name.as_deref();
        for code in mentions.wanted().filter(|c| Some(c.text) != own) {
            if let Some(slots) = self.by_key(&code.key, need, mentions)? {
                return Ok(Some(slots));
            }
        }
        let producers = self.others(mentions.wanted().filter_map(|c| self.producer(c.text)));
        Ok((!producers.is_empty()).then(|| self.slots(&producers, need, mentions, Wiring::Named)))
    }

    /// The node a name in backticks means: itself, or as `node.facet` or `field.facet`.
    fn producer(&self, code: &str) -> Option<usize> {
        self.index.node(code).or_else(|| {
            let (owner, facet) = code.split_once('.')?;
            self.index.node(owner).or_else(|| self.dotted(owner, facet))
        })
    }

    /// The only node with this field and this facet.
    fn dotted(&self, field: &str, facet: &str) -> Option<usize> {
        let facet = key(facet);
        let mut with_both = self.index.fields(&key(field)).iter().copied().filter(|n| {
            *n != self.subscriber && self.nodes[*n].maintains.facets.iter().any(|f| f.key == facet)
        });
        with_both.next().filter(|_| with_both.next().is_none())
    }

    /// Of several producers, those that the words single out; all, where the need asks for all.
    fn settle(&self, producers: Vec<usize>, mentions: &Mentions) -> Result<Vec<usize>, Failure> {
        if producers.len() < 2 {
            return Ok(producers);
        }
        let mentioned = mentions.in_words(self.index, false);
        let singled: Vec<usize> =
            producers.iter().copied().filter(|p| mentioned.contains(p)).collect();
        if !singled.is_empty() {
            return Ok(singled);
        }
        if mentions.is_fan_in() {
            return Ok(producers);
        }
        Err(Failure::Ambiguous(producers))
    }

    /// Distinct nodes other than the subscriber: no node subscribes to itself.
    fn others(&self, producers: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut others = Vec::new();
        for producer in producers {
            if producer != self.subscriber && !others.contains(&producer) {
                others.push(producer);
            }
        }
        others
    }

    fn slots(
        &self,
        producers: &[usize],
        need: &RawNeed,
        mentions: &Mentions,
        wiring: Wiring,
    ) -> Vec<Slot> {
        let of = producers.iter().map(|p| facets::of(&self.nodes[*p], need, mentions, wiring));
        of.flatten().collect()
    }

    fn slot(&self, node: usize, facet: usize) -> Slot {
        let node = &self.nodes[node];
        let facet = &node.maintains.facets[facet];
        Slot {
            producer: node.unit.name().to_owned(),
            facet: facet.name.to_owned(),
            wiring: if facet.family().is_some() { Wiring::Family } else { Wiring::Facet },
        }
    }
}

/// What stands before the colon of a family or member, or the whole.
fn prefix(key: &str) -> &str {
    key.split(':').next().unwrap_or(key)
}

impl Failure {
    pub(crate) fn diagnostic(self, resolver: &Resolver, need: &RawNeed) -> Diagnostic {
        let unit = resolver.nodes[resolver.subscriber].unit;
        let what =
            need.name.as_deref().map_or_else(|| shortened(&need.prose.text), |n| format!("`{n}`"));
        let span = need.prose.span.clone();
        match self {
            Failure::Ambiguous(producers) => {
                let names: Vec<String> = producers
                    .iter()
                    .map(|p| format!("`{}`", resolver.nodes[*p].unit.name()))
                    .collect();
                let message = format!("several producers fit {what} equally: {}", names.join(", "));
                unit.diagnostic(Code::RequiresAmbiguous, span, message)
                    .help("name one, as in `facet` from `node`, or ask for every source of it")
            }
            Failure::Unsatisfied { named } => {
                let message = match &named {
                    Some(named) => {
                        format!("{what} is said to come from `{named}`, which is no node")
                    }
                    None => format!("no other node maintains {what}"),
                };
                let wanted = named.as_deref().or(need.name.as_deref());
                let wanted = key(wanted.unwrap_or(&need.prose.text));
                let diagnostic = unit.diagnostic(Code::RequiresUnsatisfied, span, message);
                let near = nearest(resolver.index, &wanted);
                if near.is_empty() {
                    diagnostic
                } else {
                    diagnostic.help(format!("the nearest names are {}", near.join(", ")))
                }
            }
        }
    }
}

fn shortened(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    format!("\"{short}{dots}\"")
}

/// The three names most like `wanted`, best first.
fn nearest(index: &Index, wanted: &str) -> Vec<String> {
    let names = index.vocabulary();
    let mut ranked: Vec<(f64, &str)> =
        names.into_iter().map(|name| (strsim::jaro_winkler(wanted, name), name)).collect();
    ranked.retain(|(likeness, _)| *likeness > 0.6);
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    ranked.into_iter().take(3).map(|(_, name)| format!("`{name}`")).collect()
}
