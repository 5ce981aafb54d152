//! `prose receipts export`: a folder that proves itself.
//!
//! ```text
//! receipts.jsonl   {"address": "blake3:...", "receipt": {...}}, oldest first; the receipt's bytes
//!                  are the canonical ones
//! head.json        the signed head of the log
//! keys.json        {"keys": ["ed25519:..."]}
//! contents/HEX     every published tree and blob, named by its address without `blake3:`
//! ```

use std::{
    borrow::Cow,
    collections::BTreeSet,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use prose_ir::Address;
use prose_ledger::SignedHead;
use prose_truth::Tree;
use serde_json::json;

use super::Context;
use crate::{
    cli::ReceiptsExport,
    commands::compile::plural,
    connect::Session,
    error::{self, Exit, Explain},
    ledger,
};

pub(super) const RECEIPTS: &str = "receipts.jsonl";
pub(super) const HEAD: &str = "head.json";
pub(super) const KEYS: &str = "keys.json";
pub(super) const CONTENTS: &str = "contents";

/// Why nothing was exported.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{} is there already and not an empty folder", .0.display())]
    Occupied(PathBuf),
    #[error("{} cannot be written", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
}

impl Explain for Error {
    fn code(&self) -> Cow<'static, str> {
        match self {
            Self::Occupied(_) => "export_exists".into(),
            Self::Unwritable { .. } => "export_unwritable".into(),
        }
    }

    fn help(&self) -> Option<String> {
        matches!(self, Self::Occupied(_)).then(|| "name a folder that is not there yet".into())
    }
}

pub(super) async fn run(context: &Context, asked: ReceiptsExport) -> Result<Exit, error::Error> {
    let dir = asked.dir;
    prepare(&dir)?;
    let written = Session::with(context, None, async |session| export(session, &dir).await).await?;
    let output = context.output;
    if output.json {
        let (receipts, contents) = written;
        output.document(&json!({"folder": dir, "receipts": receipts, "contents": contents}))?;
    } else {
        output.text(&format!(
            "{} and {} are in {}",
            plural(written.0, "receipt"),
            plural(written.1, "content"),
            dir.display()
        ))?;
    }
    Ok(Exit::Fine)
}

fn prepare(dir: &Path) -> Result<(), Error> {
    let unwritable = |source| Error::Unwritable { path: dir.to_owned(), source };
    let is_free = match fs::read_dir(dir) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => false,
        Err(error) => return Err(unwritable(error)),
    };
    if !is_free {
        return Err(Error::Occupied(dir.to_owned()));
    }
    fs::create_dir_all(dir.join(CONTENTS)).map_err(unwritable)
}

/// How many receipts and contents were written.
async fn export(session: &mut Session, dir: &Path) -> Result<(usize, usize), error::Error> {
    let (head, keys) = session.head().await?;
    let said = SignedHead::parse(&head)?.head.receipts;
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        fs::write(&path, bytes).map_err(|source| Error::Unwritable { path, source })
    };
    write(HEAD, &head)?;
    write(KEYS, format!("{}\n", json!({ "keys": keys })).as_bytes())?;
    let path = dir.join(RECEIPTS);
    let unwritable = |source| Error::Unwritable { path: path.clone(), source };
    let mut file = BufWriter::new(File::create(&path).map_err(unwritable)?);
    let (mut count, mut trees) = (0, BTreeSet::new());
    // What is written meanwhile belongs to a later head.
    let until = (!session.is_local()).then_some(said);
    let take = |row: prose_api::v1::Receipt| {
        let (address, body) = (json!(row.address), &row.body);
        write!(file, "{{\"address\":{address},\"receipt\":")
            .and_then(|()| file.write_all(body))
            .and_then(|()| file.write_all(b"}\n"))
            .map_err(unwritable)?;
        // A damaged receipt is exported as it is, for `verify` to find.
        trees.extend(ledger::parse(&row).ok().and_then(|sealed| sealed.receipt.world_model));
        count += 1;
        Ok(())
    };
    session.each_receipt("", 0, until, take).await?;
    file.flush().map_err(unwritable)?;
    Ok((count, contents(session, dir, trees).await?))
}

async fn contents(
    session: &mut Session,
    dir: &Path,
    trees: BTreeSet<Address>,
) -> Result<usize, error::Error> {
    let trees: Vec<Address> = trees.into_iter().collect();
    let mut count = 0;
    let mut written = BTreeSet::new();
    // A few trees at a time: contents may be large.
    for part in trees.chunks(TREES) {
        let found = session.contents(part).await?;
        let blobs: BTreeSet<Address> = found
            .values()
            .filter_map(|bytes| Tree::parse(bytes).ok())
            .flat_map(|tree| {
                tree.files().values().map(|entry| entry.blob.clone()).collect::<Vec<_>>()
            })
            .filter(|blob| !written.contains(blob))
            .collect();
        let blobs: Vec<Address> = blobs.into_iter().collect();
        count += write_contents(dir, found)?;
        for part in blobs.chunks(BLOBS) {
            count += write_contents(dir, session.contents(part).await?)?;
        }
        written.extend(blobs);
    }
    Ok(count)
}

const TREES: usize = 50;
const BLOBS: usize = 50;

fn write_contents(
    dir: &Path,
    found: std::collections::BTreeMap<String, Vec<u8>>,
) -> Result<usize, Error> {
    let count = found.len();
    for (address, bytes) in found {
        let path = file(dir, &address);
        fs::write(&path, bytes).map_err(|source| Error::Unwritable { path, source })?;
    }
    Ok(count)
}

/// Where a content is in an export.
pub(super) fn file(dir: &Path, address: &str) -> PathBuf {
    dir.join(CONTENTS).join(address.strip_prefix("blake3:").unwrap_or(address))
}
