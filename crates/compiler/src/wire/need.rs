//! The needs a contract states, before they are resolved.

use prose_contract::{Block, Mark, MarkKind, Part, Prose, SectionKind};

use super::Node;
use crate::{
    lower::Unit,
    words::{contains_phrase, key},
};

/// One bullet, `####` or lone paragraph of `### Requires`.
#[derive(Debug, Clone)]
pub(crate) struct RawNeed {
    /// Its position among the needs of its node.
    pub(crate) order: usize,
    /// The name it gives itself.
    pub(crate) name: Option<String>,
    /// Everything said of it; the span is that of its first line.
    pub(crate) prose: Prose,
}

pub(crate) fn read(unit: Unit) -> Vec<RawNeed> {
    let mut needs = Vec::new();
    for section in unit.entry.sections(SectionKind::Requires) {
        let (shared, parts) = section.parts();
        let from = needs.len();
        items(shared, &mut needs);
        needs.extend(parts.iter().map(heading));
        if needs.len() == from {
            needs.extend(paragraph(shared));
        }
    }
    needs.retain(|need| !Unit::is_none(&need.prose.text));
    for (order, need) in needs.iter_mut().enumerate() {
        need.order = order;
    }
    needs
}

/// Bullets at the top; what is nested under one belongs to it.
fn items(blocks: &[Block], needs: &mut Vec<RawNeed>) {
    let from = needs.len();
    for block in blocks {
        let Block::Item { depth, prose } = block else {
            continue;
        };
        match needs[from..].last_mut() {
            Some(need) if *depth > 1 => append(&mut need.prose, prose),
            _ => needs.push(RawNeed { order: 0, name: name(prose), prose: prose.clone() }),
        }
    }
}

fn heading(part: &Part) -> RawNeed {
    let mut prose = part.heading.clone();
    let name = prose.text.clone();
    if prose.marks.is_empty() {
        let range = 0..prose.text.len();
        prose.marks.push(Mark { kind: MarkKind::Code, range });
    }
    prose.text.push(':');
    for inner in part.blocks.iter().filter_map(Block::prose) {
        append(&mut prose, inner);
    }
    RawNeed { order: 0, name: Some(name), prose }
}

/// A need may stand in a paragraph of its own when there is no bullet.
fn paragraph(blocks: &[Block]) -> Option<RawNeed> {
    let prose = blocks.iter().find_map(Block::prose)?;
    Some(RawNeed { order: 0, name: name(prose), prose: prose.clone() })
}

fn append(prose: &mut Prose, more: &Prose) {
    prose.text.push(' ');
    let by = prose.text.len();
    prose.text.push_str(&more.text);
    prose.marks.extend(
        more.marks.iter().map(|mark| Mark {
            kind: mark.kind,
            range: mark.range.start + by..mark.range.end + by,
        }),
    );
}

/// The name in backticks that the text begins with, or before a colon.
fn name(prose: &Prose) -> Option<String> {
    let code = prose.codes().next().filter(|(mark, _)| mark.range.start == 0);
    let bare = || prose.item().and_then(|item| item.names.first().map(|n| (*n).to_owned()));
    code.map(|(_, code)| code.to_owned()).or_else(bare)
}

impl RawNeed {
    /// "prior `X`, read by reference": the node's own truth is always at hand and no subscription.
    pub(crate) fn is_own_truth(&self, node: &Node) -> bool {
        let text = &self.prose.text;
        let first: Vec<&str> = text.split(' ').take(4).collect();
        let prior = first.iter().position(|word| word.eq_ignore_ascii_case("prior"));
        let lead = ["the", "a", "its", "own", "this", "node's"];
        if !prior.is_some_and(|at| {
            first[..at].iter().all(|w| lead.iter().any(|l| w.eq_ignore_ascii_case(l)))
        }) {
            return false;
        }
        let own = [node.unit.name()].into_iter();
        let own = own
            .chain(node.maintains.aliases.iter().copied())
            .chain(node.maintains.fields.iter().map(String::as_str));
        let own: Vec<String> = own.map(key).collect();
        let names_itself = self.prose.codes().any(|(_, code)| own.contains(&key(code)));
        names_itself || contains_phrase(text, "self") || contains_phrase(text, "own")
    }
}
