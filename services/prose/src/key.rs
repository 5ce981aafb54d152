//! The key that signs receipts: made on first use, for the owner's eyes only.

use std::{
    borrow::Cow,
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use prose_ledger::Signer;

use crate::{
    error::{self, Explain},
    project::Project,
};

/// Permissions of anybody but the owner.
const OTHERS: u32 = 0o077;

/// Why there is no key to sign with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the signing key {} can be read by others (mode {mode:03o})", path.display())]
    Exposed { path: PathBuf, mode: u32 },
    #[error("the signing key {} cannot be used", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the signing key {} is not usable", path.display())]
    Malformed { path: PathBuf, source: prose_ledger::KeyError },
    #[error("the system gave no randomness for a signing key: {0}")]
    NoRandomness(getrandom::Error),
}

impl Explain for Error {
    fn code(&self) -> Cow<'static, str> {
        match self {
            Self::Exposed { .. } => "key_exposed",
            Self::Io { .. } => "key_unreadable",
            Self::Malformed { .. } => "key_malformed",
            Self::NoRandomness(_) => "no_randomness",
        }
        .into()
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::Exposed { path, .. } => Some(format!(
                "if nobody has read it: chmod 600 {}; else move it away, and a new one is made",
                path.display()
            )),
            Self::Malformed { .. } => {
                Some("restore it from a backup, or move it away, and a new one is made".into())
            }
            _ => None,
        }
    }
}

/// Who signs the receipts of a project, and the public keys to believe besides. Only for the
/// holder of the state, so that two processes never make two keys.
pub(crate) fn signer(project: &Project) -> Result<(Signer, Vec<String>), error::Error> {
    let path = project.key();
    let stored = read(&path)?;
    if project.config.sign {
        let signer = stored.map_or_else(|| make(&path), Ok)?;
        return Ok((signer, Vec::new()));
    }
    // What was signed before is still to be verified.
    let keys = stored.iter().filter_map(Signer::key_id).map(str::to_owned).collect();
    Ok((Signer::unsigned("signing is turned off in prose.toml"), keys))
}

/// The stored key, if there is one.
pub(crate) fn read(path: &Path) -> Result<Option<Signer>, Error> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        outcome => outcome.map_err(io)?,
    };
    if metadata.mode() & OTHERS != 0 {
        return Err(Error::Exposed { path: path.to_owned(), mode: metadata.mode() & 0o777 });
    }
    let pem = fs::read_to_string(path).map_err(io)?;
    let malformed = |source| Error::Malformed { path: path.to_owned(), source };
    Signer::from_pem(&pem).map(Some).map_err(malformed)
}

fn make(path: &Path) -> Result<Signer, Error> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(Error::NoRandomness)?;
    let signer = Signer::ed25519(&secret);
    let pem = signer.to_pem().unwrap_or_default();
    write(path, &pem).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    Ok(signer)
}

/// Writes it whole or not at all: half a key would keep the project from starting.
fn write(path: &Path, pem: &str) -> io::Result<()> {
    let unfinished = path.with_extension("new");
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    file.write_all(pem.as_bytes())?;
    file.sync_all()?;
    fs::rename(&unfinished, path)
}
