//! Trees and blobs, read back as files and documents.

use std::collections::BTreeMap;

use prose_ir::Address;
use prose_truth::{DocumentError, Files, Tree, document, verify};
use serde_json::Value;

use crate::{Engine, Error, operation::Operation};

impl Engine {
    /// The files of a published tree.
    pub(crate) async fn files(&self, reactor: &str, tree: &Address) -> Result<Files, Error> {
        let bytes = self.store.contents(std::slice::from_ref(tree)).await?;
        let blobs = wanted(reactor, tree, &bytes)?;
        let contents = self.store.contents(&blobs.1).await?;
        assemble(reactor, &blobs.0, &contents)
    }

    /// Trees and blobs as stored; what is not there is missing in the answer.
    ///
    /// # Errors
    /// The store.
    pub async fn contents(
        &self,
        addresses: &[Address],
    ) -> Result<BTreeMap<Address, Vec<u8>>, Error> {
        Ok(self.store.contents(addresses).await?)
    }

    pub(crate) fn damaged(&self, reactor: &str, error: DocumentError) -> Error {
        Error::Damaged { reactor: reactor.to_owned(), what: error.to_string() }
    }
}

impl Operation<'_> {
    /// The files of a published tree, read under the lock.
    pub(crate) async fn files(&mut self, tree: &Address) -> Result<Files, Error> {
        let bytes = self.tx.contents(std::slice::from_ref(tree)).await?;
        let (tree, blobs) = wanted(&self.name, tree, &bytes)?;
        let contents = self.tx.contents(&blobs).await?;
        assemble(&self.name, &tree, &contents)
    }

    /// A published truth as one document.
    pub(crate) async fn document(&mut self, tree: &Address) -> Result<Option<Value>, Error> {
        let files = self.files(tree).await?;
        document(&files).map(Some).map_err(|error| self.damaged(error))
    }

    pub(crate) fn damaged(&self, error: DocumentError) -> Error {
        Error::Damaged { reactor: self.name.clone(), what: error.to_string() }
    }
}

fn wanted(
    reactor: &str,
    address: &Address,
    contents: &BTreeMap<Address, Vec<u8>>,
) -> Result<(Tree, Vec<Address>), Error> {
    let damaged = |what: String| Error::Damaged { reactor: reactor.to_owned(), what };
    let bytes =
        contents.get(address).ok_or_else(|| damaged(format!("tree {address} is missing")))?;
    if !verify(address, bytes) {
        return Err(damaged(format!("tree {address} does not hash to its address")));
    }
    let tree = Tree::parse(bytes).map_err(|e| damaged(format!("tree {address}: {e}")))?;
    let blobs = tree.files().values().map(|entry| entry.blob.clone()).collect();
    Ok((tree, blobs))
}

fn assemble(
    reactor: &str,
    tree: &Tree,
    contents: &BTreeMap<Address, Vec<u8>>,
) -> Result<Files, Error> {
    let mut files = Files::new();
    for (path, entry) in tree.files() {
        let bytes = contents.get(&entry.blob).filter(|bytes| verify(&entry.blob, bytes));
        let bytes = bytes.ok_or_else(|| Error::Damaged {
            reactor: reactor.to_owned(),
            what: format!("blob {} of `{}` is missing or damaged", entry.blob, path.as_str()),
        })?;
        files.insert(path.clone(), bytes.clone());
    }
    Ok(files)
}
