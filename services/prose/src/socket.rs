//! The owner-only Unix socket in the project.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::{
        fd::AsRawFd,
        unix::{
            ffi::OsStrExt,
            fs::{DirBuilderExt, FileTypeExt, PermissionsExt},
        },
    },
    path::{Path, PathBuf},
};

use tokio::net::UnixListener;
use tonic::transport::Channel;

/// A socket's path must fit into the kernel's structure, with a NUL behind it.
const PATH_BYTES_MAX: usize = 103;

/// A path to the socket that is short enough, and what keeps it valid.
struct Short {
    path: PathBuf,
    _folder: Option<File>,
}

/// Projects may lie deeper than a socket's path is long; then the folder is reached through an
/// open handle of it.
fn short(path: &Path) -> io::Result<Short> {
    if path.as_os_str().as_bytes().len() <= PATH_BYTES_MAX {
        return Ok(Short { path: path.to_owned(), _folder: None });
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = File::open(folder)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    Ok(Short { path, _folder: Some(folder) })
}

/// Makes a folder that only the owner can enter.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {
            // Of an older program, or copied with looser permissions.
            fs::set_permissions(folder, PermissionsExt::from_mode(0o700))
        }
        outcome => outcome,
    }
}

/// Listens at `path`. Only for the holder of the state: a socket that is there already was left by
/// a holder before it.
pub(crate) fn listen(path: &Path) -> io::Result<UnixListener> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => fs::remove_file(path)?,
        Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let short = short(path)?;
    let listener = UnixListener::bind(&short.path)?;
    // The folder is closed to others, so nobody slips in before this.
    fs::set_permissions(path, PermissionsExt::from_mode(0o600))?;
    Ok(listener)
}

/// Connects to whoever listens at `path`; `None` when nobody does.
pub(crate) async fn connect(path: &Path) -> Option<Channel> {
    if !path.exists() {
        return None;
    }
    let short = short(path).ok()?;
    prose_api::connect_unix(&short.path).await.ok()
}
