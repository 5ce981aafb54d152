//! The state folder: who may enter it, and who works in it.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io::{Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use crate::Error;

const DATABASE: &str = "state.sqlite";
const LOCK: &str = "lock";

/// The state folder, held by this process until it is dropped.
pub(super) struct Folder {
    /// The database file; it exists, if only as an empty file.
    pub database: PathBuf,
    /// Never read: the lock lasts as long as the file is open.
    _lock: File,
}

impl Folder {
    /// Makes the folder and its files where they are missing, for the owner only, and locks it.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::Io { path, source }
        };
        if !folder.is_dir() {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700).create(folder).map_err(io(folder))?;
        }
        let lock = lock(folder)?;
        let database = folder.join(DATABASE);
        // SQLite would create it with the modes of the umask; its log takes over the modes.
        open_private(&database).map_err(io(&database))?;
        Ok(Self { database, _lock: lock })
    }
}

fn lock(folder: &Path) -> Result<File, Error> {
    let path = folder.join(LOCK);
    let io = |source| Error::Io { path: path.clone(), source };
    let mut file = open_private(&path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // The number is for the message only: a holder that cannot be read is still one.
            let pid = file.read_to_string(&mut holder).ok().and(holder.trim().parse().ok());
            return Err(Error::Locked { folder: folder.to_owned(), pid });
        }
        Err(TryLockError::Error(source)) => return Err(io(source)),
    }
    // On a full disk the holder stays unnamed, which is better than refusing to start.
    let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(file)
}

fn open_private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}
