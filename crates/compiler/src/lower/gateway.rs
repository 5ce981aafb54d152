//! What lets the outside world in, and whom it wakes.

use prose_contract::{Prose, SectionKind};
use prose_ir::Route;

use super::Unit;

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The routes of `### Receives`; other lines are notes for the reader.
pub(crate) fn routes(unit: Unit) -> Vec<Route> {
    let prose = unit.entry.sections(SectionKind::Receives).flat_map(|s| s.prose());
    prose.filter_map(route).collect()
}

fn route(prose: &Prose) -> Option<Route> {
    let mut words = prose.text.split_whitespace();
    let first = words.next()?;
    let second = words.next()?.trim_end_matches([',', ';']);
    match first {
        "nats:" => Some(Route::Nats(second.to_owned())),
        "file:" => Some(Route::File(second.to_owned())),
        method if METHODS.contains(&method) && second.starts_with('/') => Some(Route::Http {
            method: method.to_owned(),
            path: second.trim_end_matches([':', '.']).to_owned(),
        }),
        _ => None,
    }
}

/// The nodes that `### Emits` names, each with the bullet that names it.
pub(crate) fn emits(unit: Unit<'_>) -> Vec<(String, &Prose)> {
    let prose = unit.entry.sections(SectionKind::Emits).flat_map(|s| &s.blocks);
    let items = prose.filter_map(|block| match block {
        prose_contract::Block::Item { prose, .. } => Some(prose),
        _ => None,
    });
    items
        .filter(|prose| !Unit::is_none(&prose.text))
        .map(|prose| {
            let name = prose.codes().find(|(mark, _)| mark.range.start == 0).map(|(_, code)| code);
            let bare = || prose.text.split([' ', ':']).next().unwrap_or_default();
            (name.unwrap_or_else(bare).to_owned(), prose)
        })
        .collect()
}
