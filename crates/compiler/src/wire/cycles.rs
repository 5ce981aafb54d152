//! Finds a ring of subscriptions.

use std::collections::HashMap;

use prose_ir::Edge;

/// The members of one ring in reading order (each reads the next), or `None`. The edges are sorted.
/// Iterative, since a chain may be as long as there are nodes.
pub(crate) fn find(edges: &[Edge]) -> Option<Vec<String>> {
    // Only who reads something can be part of a ring.
    let reads: Vec<&[Edge]> = edges.chunk_by(|a, b| a.subscriber == b.subscriber).collect();
    let reader: HashMap<&str, usize> =
        reads.iter().enumerate().map(|(at, reads)| (reads[0].subscriber.as_str(), at)).collect();
    let mut seen = vec![Seen::Never; reads.len()];
    for start in 0..reads.len() {
        if seen[start] != Seen::Never {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        seen[start] = Seen::OnPath;
        while let Some((node, next)) = path.last_mut() {
            let Some(edge) = reads[*node].get(*next) else {
                seen[*node] = Seen::Done;
                path.pop();
                continue;
            };
            *next += 1;
            let Some(producer) = reader.get(edge.producer.as_str()).copied() else { continue };
            match seen[producer] {
                Seen::Done => {}
                Seen::OnPath => {
                    let from = path.iter().position(|(n, _)| *n == producer).unwrap_or(0);
                    let ring = path[from..].iter();
                    return Some(ring.map(|(n, _)| reads[*n][0].subscriber.clone()).collect());
                }
                Seen::Never => {
                    seen[producer] = Seen::OnPath;
                    path.push((producer, 0));
                }
            }
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Never,
    OnPath,
    Done,
}
