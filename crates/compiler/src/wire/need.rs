//! The needs a contract states, before they are resolved.

use std::borrow::Cow;

use prose_contract::{Block, Mark, MarkKind, Part, Prose, SectionKind};

use super::Node;
use crate::{
    lower::Unit,
    words::{contains_phrase, key},
};

/// One bullet, `####` or lone paragraph of `### Requires`.
#[derive(Debug, Clone)]
pub(crate) struct RawNeed<'a> {
    /// Its position among the needs of its node.
    pub(crate) order: usize,
    /// The name it gives itself.
    pub(crate) name: Option<Cow<'a, str>>,
    /// Everything said of it; the span is that of its first line.
    pub(crate) prose: Cow<'a, Prose>,
}

pub(crate) fn read<'a>(unit: Unit<'a>) -> Vec<RawNeed<'a>> {
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
fn items<'a>(blocks: &'a [Block], needs: &mut Vec<RawNeed<'a>>) {
    let from = needs.len();
    for block in blocks {
        let Block::Item { depth, prose } = block else {
            continue;
        };
        match needs[from..].last_mut() {
            Some(need) if *depth > 1 => append(need.prose.to_mut(), prose),
            _ => needs.push(RawNeed::plain(prose)),
        }
    }
}

fn heading<'a>(part: &Part<'a>) -> RawNeed<'a> {
    let mut prose = part.heading.clone();
    let name = Cow::Borrowed(part.heading.text.as_str());
    if prose.marks.is_empty() {
        let range = 0..prose.text.len();
        prose.marks.push(Mark { kind: MarkKind::Code, range });
    }
    prose.text.push(':');
    for inner in part.blocks.iter().filter_map(Block::prose) {
        append(&mut prose, inner);
    }
    RawNeed { order: 0, name: Some(name), prose: Cow::Owned(prose) }
}

/// A need may stand in a paragraph of its own when there is no bullet.
fn paragraph(blocks: &[Block]) -> Option<RawNeed<'_>> {
    blocks.iter().find_map(Block::prose).map(RawNeed::plain)
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
fn name(prose: &Prose) -> Option<&str> {
    let code = prose.codes().next().filter(|(mark, _)| mark.range.start == 0);
    let bare = || prose.item().and_then(|item| item.names.first().copied());
    code.map(|(_, code)| code).or_else(bare)
}

impl<'a> RawNeed<'a> {
    fn plain(prose: &'a Prose) -> Self {
        Self { order: 0, name: name(prose).map(Cow::Borrowed), prose: Cow::Borrowed(prose) }
    }

    /// "prior `X`, read by reference": the node's own truth is always at hand and no subscription.
    pub(crate) fn is_own_truth(&self, node: &Node) -> bool {
        let text = &self.prose.text;
        let lead = ["the", "a", "its", "own", "this", "node's"];
        let is_lead = |word: &&str| lead.iter().any(|l| word.eq_ignore_ascii_case(l));
        let first = text.split(' ').take(4).find(|word| !is_lead(word));
        if !first.is_some_and(|word| word.eq_ignore_ascii_case("prior")) {
            return false;
        }
        let own = [node.unit.name()].into_iter();
        let own = own
            .chain(node.maintains.aliases.iter().map(String::as_str))
            .chain(node.maintains.fields.iter().map(String::as_str));
        let own: Vec<String> = own.map(key).collect();
        let names_itself = self.prose.codes().any(|(_, code)| own.contains(&key(code)));
        names_itself || contains_phrase(text, "self") || contains_phrase(text, "own")
    }
}
