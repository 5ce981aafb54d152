//! Wiring (Forme): each need finds its producers by what the words say, never by guessing.

mod cycles;
mod facets;
mod index;
mod mentions;
mod need;
mod resolve;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use prose_contract::{Code, Diagnostic};
use prose_ir::{ATOMIC, Edge, Need, Slot, Wiring};

use crate::{
    lower::{Unit, gateway, maintains::Maintains},
    words,
};
pub(crate) use index::Index;
use need::RawNeed;
use resolve::{Failure, Resolver};

/// A mounted node as wiring sees it.
pub(crate) struct Node<'a> {
    pub(crate) unit: Unit<'a>,
    pub(crate) maintains: Maintains,
}

/// The resolved needs of every node, in the order of the nodes.
pub(crate) struct Wired {
    pub(crate) needs: Vec<Vec<Need>>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) acyclic: bool,
}

/// `by_name` are the positions of the nodes in order of their names.
pub(crate) fn wire(nodes: &[Node], by_name: &[usize], diagnostics: &mut Vec<Diagnostic>) -> Wired {
    let index = Index::new(nodes);
    let emitters = emitters(nodes, &index, diagnostics);
    let mut needs = Vec::with_capacity(nodes.len());
    for (subscriber, emitting) in emitters.iter().enumerate() {
        needs.push(subscriptions(nodes, &index, subscriber, emitting, diagnostics));
    }
    let edges = edges(nodes, by_name, &needs);
    let acyclic = match cycles::find(&edges) {
        None => true,
        Some(ring) => {
            diagnostics.push(cyclic(&ring));
            false
        }
    };
    Wired { needs, edges, acyclic }
}

/// For each node, the gateways whose `Emits` names it.
fn emitters(nodes: &[Node], index: &Index, diagnostics: &mut Vec<Diagnostic>) -> Vec<Vec<usize>> {
    let mut emitters = vec![Vec::new(); nodes.len()];
    for (gateway, node) in nodes.iter().enumerate() {
        for (name, prose) in gateway::emits(node.unit) {
            // An older spelling adds a channel: `node.channel`.
            let found = index
                .node(&name)
                .or_else(|| index.node(name.split('.').next().unwrap_or_default()));
            match found {
                Some(target) => {
                    if target != gateway && emitters[target].last() != Some(&gateway) {
                        emitters[target].push(gateway);
                    }
                }
                None => {
                    let message = format!("`{name}` is no node");
                    diagnostics.push(node.unit.diagnostic(
                        Code::EmitsUnresolved,
                        prose.span.clone(),
                        message,
                    ));
                }
            }
        }
    }
    emitters
}

fn subscriptions(
    nodes: &[Node],
    index: &Index,
    subscriber: usize,
    emitting: &[usize],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Need> {
    let unit = nodes[subscriber].unit;
    let resolver = Resolver { nodes, index, subscriber };
    let mut needs: Vec<(RawNeed, Vec<Slot>)> = Vec::new();
    let mut open: Vec<(RawNeed, Failure)> = Vec::new();
    for need in need::read(unit) {
        if need.is_own_truth(&nodes[subscriber]) {
            continue;
        }
        match resolver.resolve(&need) {
            Ok(slots) => needs.push((need, slots)),
            Err(failure) => open.push((need, failure)),
        }
    }
    let free = free(nodes, emitting, &needs);
    let mut claimed = false;
    for (need, failure) in open {
        // A gateway that says it wakes this node, and that nothing else claims, brings what is
        // left. Of several gateways none can be preferred.
        match (&failure, free.as_slice()) {
            (Failure::Unsatisfied { named: None }, [gateway]) => {
                claimed = true;
                needs.push((need, vec![emitted(gateway)]));
            }
            _ => diagnostics.push(failure.diagnostic(&resolver, &need)),
        }
    }
    needs.sort_by_key(|(need, _)| need.order);
    let mut named = Vec::with_capacity(needs.len() + free.len());
    let mut taken = BTreeMap::new();
    for (need, slots) in needs {
        named.push(finish(need, slots, &mut taken));
    }
    if !claimed {
        for gateway in free {
            named.push(Need {
                name: unique(segment(gateway), &mut taken),
                text: format!("woken by `{gateway}`"),
                context: false,
                optional: false,
                slots: vec![emitted(gateway)],
            });
        }
    }
    named
}

/// The gateways among `emitting` that no need is wired to yet.
fn free<'a>(
    nodes: &[Node<'a>],
    emitting: &[usize],
    needs: &[(RawNeed, Vec<Slot>)],
) -> Vec<&'a str> {
    if emitting.is_empty() {
        return Vec::new();
    }
    let wired: BTreeSet<&str> =
        needs.iter().flat_map(|(_, s)| s).map(|s| s.producer.as_str()).collect();
    emitting.iter().map(|g| nodes[*g].unit.name()).filter(|g| !wired.contains(g)).collect()
}

fn emitted(gateway: &str) -> Slot {
    Slot { producer: gateway.to_owned(), facet: ATOMIC.to_owned(), wiring: Wiring::Emits }
}

fn finish(need: RawNeed, slots: Vec<Slot>, taken: &mut BTreeMap<String, usize>) -> Need {
    let first = slots.first();
    let facet = first.map(|s| s.facet.as_str()).filter(|f| *f != ATOMIC);
    let name = [need.name.as_deref(), facet, first.map(|s| s.producer.as_str())]
        .into_iter()
        .flatten()
        .map(segment)
        .find(|name| !name.is_empty())
        .unwrap_or_else(|| "input".to_owned());
    Need {
        name: unique(name, taken),
        context: words::contains_phrase(&need.prose.text, "(context)"),
        optional: words::contains_phrase(&need.prose.text, "(optional)"),
        text: match need.prose {
            Cow::Borrowed(prose) => prose.text.clone(),
            Cow::Owned(prose) => prose.text,
        },
        slots,
    }
}

/// A name as one safe path segment: as written where it is one, else in lower case with hyphens.
fn segment(name: &str) -> String {
    let is_safe = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    if name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && name.bytes().all(is_safe)
    {
        return name.to_owned();
    }
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// Tells needs of one name apart by a number.
fn unique(name: String, taken: &mut BTreeMap<String, usize>) -> String {
    if !taken.contains_key(&name) {
        taken.insert(name.clone(), 1);
        return name;
    }
    let mut candidate = name.clone();
    while taken.contains_key(&candidate) {
        let count = taken.entry(name.clone()).or_insert(1);
        *count += 1;
        candidate = format!("{name}-{count}");
    }
    taken.insert(candidate.clone(), 1);
    candidate
}

/// What wakes: every slot of every need that is not read as mere context.
fn edges(nodes: &[Node], by_name: &[usize], needs: &[Vec<Need>]) -> Vec<Edge> {
    let mut edges = Vec::with_capacity(nodes.len() * 2);
    let mut read: Vec<(&str, &str)> = Vec::new();
    for at in by_name {
        let slots = needs[*at].iter().filter(|n| !n.context).flat_map(|n| &n.slots);
        read.extend(slots.map(|slot| (slot.producer.as_str(), slot.facet.as_str())));
        read.sort_unstable();
        read.dedup();
        edges.extend(read.drain(..).map(|(producer, facet)| Edge {
            subscriber: nodes[*at].unit.name().to_owned(),
            producer: producer.to_owned(),
            facet: facet.to_owned(),
        }));
    }
    edges
}

fn cyclic(ring: &[String]) -> Diagnostic {
    let chain: Vec<String> = ring.iter().chain(ring.first()).map(|n| format!("`{n}`")).collect();
    let message = format!("the subscriptions form a ring: {}", chain.join(" reads "));
    Diagnostic::whole(Code::TopologyCyclic, "", message)
        .help("take one subscription out, or mark it `(context)` so that it is read without waking")
}
