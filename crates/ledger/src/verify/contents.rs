//! Checking that trees and blobs are what their addresses say.

use std::collections::BTreeSet;

use prose_ir::Address;
use prose_truth::{Tree, verify};

use super::{Lookup, Problem};

/// Looks contents up and remembers which were found sound.
pub(super) struct Contents<'a> {
    lookup: Lookup<'a>,
    sound: BTreeSet<[u8; 32]>,
}

impl<'a> Contents<'a> {
    pub(super) fn new(lookup: Lookup<'a>) -> Self {
        Self { lookup, sound: BTreeSet::new() }
    }

    /// Everything wrong with a tree and its blobs. Sound ones are looked up once; what is wrong is
    /// found again at each receipt that refers to it.
    pub(super) fn check(&mut self, address: &Address) -> Vec<Problem> {
        if self.sound.contains(&key(address)) {
            return Vec::new();
        }
        let bytes = match (self.lookup)(address) {
            None => return vec![Problem::TreeMissing(address.clone())],
            Some(bytes) if !verify(address, &bytes) => {
                return vec![Problem::TreeMismatch(address.clone())];
            }
            Some(bytes) => bytes,
        };
        let tree = match Tree::parse(&bytes) {
            Ok(tree) => tree,
            Err(error) => {
                return vec![Problem::TreeMalformed { tree: address.clone(), error }];
            }
        };
        let mut problems = Vec::new();
        for (path, entry) in tree.files() {
            problems.extend(self.check_blob(path.as_str(), &entry.blob, entry.size));
        }
        if problems.is_empty() {
            self.sound.insert(key(address));
        }
        problems
    }

    fn check_blob(&mut self, path: &str, address: &Address, size: u64) -> Option<Problem> {
        if self.sound.contains(&key(address)) {
            return None;
        }
        let path = path.to_owned();
        let blob = address.clone();
        match (self.lookup)(address) {
            None => Some(Problem::BlobMissing { path, blob }),
            Some(bytes) if bytes.len() as u64 != size || !verify(address, &bytes) => {
                Some(Problem::BlobMismatch { path, blob })
            }
            Some(_) => {
                self.sound.insert(key(address));
                None
            }
        }
    }
}

/// The 32 bytes of an address: a third of its text.
fn key(address: &Address) -> [u8; 32] {
    let digits = address.as_str().rsplit(':').next().unwrap_or_default();
    crate::hex::decode(digits).unwrap_or_default()
}
