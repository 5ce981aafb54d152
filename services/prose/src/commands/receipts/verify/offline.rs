//! Verifying an export, with nothing else at hand.

use std::{
    borrow::Cow,
    fs::{self, File},
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use prose_ir::Address;
use prose_ledger::verify::Report;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Verified, export, ring, stored, verifier};
use crate::error::{self, Explain};

/// A receipt is small; what is longer is none, and is not read into memory.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// Why a folder cannot be verified.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is not what an export writes: {problem}", path.display())]
    Malformed { path: PathBuf, problem: String },
}

impl Explain for Error {
    fn code(&self) -> Cow<'static, str> {
        match self {
            Self::Unreadable { .. } => "export_unreadable".into(),
            Self::Malformed { .. } => "export_malformed".into(),
        }
    }

    fn help(&self) -> Option<String> {
        Some("name a folder written by `prose receipts export`".into())
    }
}

#[derive(Deserialize)]
struct Keys {
    keys: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    address: String,
    #[serde(borrow)]
    receipt: &'a RawValue,
}

pub(super) fn verify(dir: &Path, pinned: Option<&[String]>) -> Result<Verified, error::Error> {
    let keys = match pinned {
        Some(keys) => keys.to_vec(),
        None => own_keys(&dir.join(export::KEYS))?,
    };
    let ring = ring(&keys)?;
    let lookup = |address: &Address| fs::read(export::file(dir, address.as_str())).ok();
    let mut verifier = verifier(&ring, &keys).with_contents(Box::new(lookup));
    let mut findings = Vec::new();
    let receipts = each_line(&dir.join(export::RECEIPTS), |line| {
        // Bytes that are no line of an export are no receipt either: found, not fatal.
        let found = match serde_json::from_slice::<Line<'_>>(line) {
            Ok(line) => {
                verifier.push(line.receipt.get().as_bytes(), stored(&line.address).as_ref())
            }
            Err(_) => verifier.push(line, None),
        };
        findings.extend(found);
    })?;
    // A missing head is a finding.
    let head = fs::read(dir.join(export::HEAD)).ok();
    findings.extend(verifier.finish(head.as_deref().map(<[u8]>::trim_ascii_end)));
    Ok(Verified { report: Report { receipts, findings }, keys })
}

fn own_keys(path: &Path) -> Result<Vec<String>, Error> {
    let bytes =
        fs::read(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    let keys: Keys = serde_json::from_slice(&bytes)
        .map_err(|error| Error::Malformed { path: path.to_owned(), problem: error.to_string() })?;
    Ok(keys.keys)
}

/// Hands over each line without its end; answers how many there are.
fn each_line(path: &Path, mut take: impl FnMut(&[u8])) -> Result<u64, Error> {
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
    let (mut count, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let mut limited = reader.by_ref().take(LINE_BYTES_MAX);
        if limited.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            return Ok(count);
        }
        count += 1;
        if line.last() != Some(&b'\n') && line.len() as u64 == LINE_BYTES_MAX {
            let problem = format!("line {count} is longer than {LINE_BYTES_MAX} bytes");
            return Err(Error::Malformed { path: path.to_owned(), problem });
        }
        take(line.strip_suffix(b"\n").unwrap_or(&line));
    }
}
