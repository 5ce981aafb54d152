//! Finds a ring of subscriptions.

use std::collections::BTreeMap;

use prose_ir::Edge;

/// The members of one ring in reading order (each reads the next), or `None`. Iterative, since a
/// chain may be as long as there are nodes.
pub(crate) fn find(edges: &[Edge]) -> Option<Vec<String>> {
    let mut reads: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for edge in edges {
        reads.entry(&edge.subscriber).or_default().push(&edge.producer);
    }
    let mut done: BTreeMap<&str, bool> = BTreeMap::new();
    for start in reads.keys().copied() {
        if done.contains_key(start) {
            continue;
        }
        let mut path: Vec<(&str, usize)> = vec![(start, 0)];
        done.insert(start, false);
        while let Some((node, next)) = path.last_mut() {
            let Some(producer) = reads.get(node).and_then(|r| r.get(*next)).copied() else {
                done.insert(node, true);
                path.pop();
                continue;
            };
            *next += 1;
            match done.get(producer) {
                Some(true) => {}
                Some(false) => {
                    let from = path.iter().position(|(n, _)| *n == producer).unwrap_or(0);
                    return Some(path[from..].iter().map(|(n, _)| (*n).to_owned()).collect());
                }
                None => {
                    done.insert(producer, false);
                    path.push((producer, 0));
                }
            }
        }
    }
    None
}
