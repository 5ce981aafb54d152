//! A truth with its contents in memory.

use std::{collections::BTreeMap, sync::Arc};

use prose_ir::Address;

use crate::{Entry, Limits, Tree, TreeError, TreePath};

/// Contents by path; what a render published or a store read back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<TreePath, Arc<[u8]>>);

impl Files {
    /// No files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, path: TreePath, content: impl Into<Arc<[u8]>>) {
        self.0.insert(path, content.into());
    }

    /// The content at `path`.
    pub fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.0.get(path)
    }

    /// All files in order of path.
    pub fn iter(&self) -> impl Iterator<Item = (&TreePath, &Arc<[u8]>)> {
        self.0.iter()
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Hashes every file: the tree, and the blobs it refers to.
    ///
    /// # Errors
    /// When the files break `limits`, or a path is both a file and a folder.
    pub fn snapshot(&self, limits: &Limits) -> Result<Snapshot, TreeError> {
        let mut entries = BTreeMap::new();
        let mut blobs = BTreeMap::new();
        for (path, content) in &self.0 {
            let blob = Address::of(content);
            let size = content.len() as u64;
            entries.insert(path.clone(), Entry { blob: blob.clone(), size });
            blobs.insert(blob, Arc::clone(content));
        }
        let tree = Tree::new(entries)?;
        tree.check(limits)?;
        let bytes = tree.to_bytes();
        let address = Address::of(&bytes);
        Ok(Snapshot { tree, address, bytes, blobs })
    }
}

impl FromIterator<(TreePath, Arc<[u8]>)> for Files {
    fn from_iter<I: IntoIterator<Item = (TreePath, Arc<[u8]>)>>(files: I) -> Self {
        Self(files.into_iter().collect())
    }
}

impl IntoIterator for Files {
    type Item = (TreePath, Arc<[u8]>);
    type IntoIter = std::collections::btree_map::IntoIter<TreePath, Arc<[u8]>>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Everything a store needs to keep a truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The tree.
    pub tree: Tree,
    /// Its address.
    pub address: Address,
    /// Its canonical bytes.
    pub bytes: Vec<u8>,
    /// The distinct contents by address.
    pub blobs: BTreeMap<Address, Arc<[u8]>>,
}
