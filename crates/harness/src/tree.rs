//! Trees of files on disk: writing, and reading without ever following a link.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use prose_truth::{Files, PathError, TreePath};

pub(crate) const FOLDER_MODE: u32 = 0o700;
pub(crate) const FOLDER_MODE_READ_ONLY: u32 = 0o500;
pub(crate) const FILE_MODE: u32 = 0o600;
pub(crate) const FILE_MODE_READ_ONLY: u32 = 0o400;

/// Whether `name` is one plain path segment.
pub(crate) fn is_safe_segment(name: &str) -> bool {
    !name.contains('/') && TreePath::new(name).is_ok()
}

pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Writes one new file, owner-only; refuses to write over an existing one.
pub(crate) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)
}

/// Writes `files` below `folder`.
pub(crate) fn write_files(folder: &Path, files: &Files, mode: u32) -> io::Result<()> {
    make_folder(folder)?;
    for (path, bytes) in files.iter() {
        let path = folder.join(path.as_str());
        if let Some(parent) = path.parent() {
            make_folder(parent)?;
        }
        write_new(&path, bytes, mode)?;
    }
    Ok(())
}

/// Sets the mode of `folder` and of every folder below it; links are not followed.
pub(crate) fn set_folder_modes(folder: &Path, mode: u32) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        // Whoever made it may have locked it; it has to be opened to be read.
        fs::set_permissions(&folder, Permissions::from_mode(FOLDER_MODE))?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
                open.push(entry.path());
            }
        }
    }
    for folder in folders.iter().rev() {
        fs::set_permissions(folder, Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Removes `folder` with all below it, whatever modes a session gave to it.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        // A session may have put a link in its place; what it points to is none of ours.
        Ok(found) if !found.is_dir() => return fs::remove_file(folder),
        Ok(_) => {}
    }
    set_folder_modes(folder, FOLDER_MODE)?;
    fs::remove_dir_all(folder)
}

/// Why a tree that a session left cannot be read as one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TreeError {
    #[error("{path} is a {what}; only plain files and folders can be published")]
    Special { path: String, what: &'static str },
    #[error("{0:?} is not a name in UTF-8")]
    Name(PathBuf),
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("it holds more than {0} files and folders")]
    TooMany(usize),
    #[error("it holds more than {0} bytes")]
    TooLarge(u64),
    #[error("{path} cannot be read: {source}")]
    Io { path: String, source: io::Error },
}

/// Reads the tree below `root/name` within the caps.
pub(crate) fn read(
    root: &Path,
    name: &str,
    count_max: usize,
    bytes_max: u64,
) -> Result<Files, TreeError> {
    let mut files = Files::new();
    let mut bytes_left = bytes_max;
    walk(root, name, count_max, &mut |path, relative| {
        let read = read_capped(path, bytes_left)
            .map_err(|source| TreeError::Io { path: format!("{name}/{relative}"), source })?
            .ok_or(TreeError::TooLarge(bytes_max))?;
        bytes_left -= read.len() as u64;
        files.insert(TreePath::new(relative)?, read);
        Ok(())
    })?;
    Ok(files)
}

/// Reads a plain file of at most `bytes_max`; none when it is longer.
pub(crate) fn read_capped(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(no_follow.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a plain file"));
    }
    read_up_to(&file, bytes_max)
}

fn read_up_to(file: &File, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= bytes_max).then_some(bytes))
}

/// Visits every plain file below `root/name` with its path relative to it.
pub(crate) fn walk(
    root: &Path,
    name: &str,
    count_max: usize,
    visit: &mut dyn FnMut(&Path, &str) -> Result<(), TreeError>,
) -> Result<(), TreeError> {
    let top = root.join(name);
    check_kind(&top, name, true)?;
    let mut open = vec![(top, String::new())];
    let mut count = 0;
    while let Some((folder, prefix)) = open.pop() {
        let io = |source| TreeError::Io { path: format!("{name}/{prefix}"), source };
        for entry in fs::read_dir(&folder).map_err(io)? {
            let entry = entry.map_err(io)?;
            count += 1;
            if count > count_max {
                return Err(TreeError::TooMany(count_max));
            }
            let Ok(segment) = entry.file_name().into_string() else {
                return Err(TreeError::Name(entry.file_name().into()));
            };
            let relative = format!("{prefix}{segment}");
            if check_kind(&entry.path(), &format!("{name}/{relative}"), false)? {
                open.push((entry.path(), format!("{relative}/")));
            } else {
                visit(&entry.path(), &relative)?;
            }
        }
    }
    Ok(())
}

/// Whether it is a folder; an error when it is neither folder nor plain file.
fn check_kind(path: &Path, shown: &str, must_be_folder: bool) -> Result<bool, TreeError> {
    let kind = fs::symlink_metadata(path)
        .map_err(|source| TreeError::Io { path: shown.to_owned(), source })?
        .file_type();
    let special = |what| TreeError::Special { path: shown.to_owned(), what };
    if kind.is_dir() {
        Ok(true)
    } else if kind.is_symlink() {
        Err(special("symbolic link"))
    } else if kind.is_fifo() {
        Err(special("named pipe"))
    } else if kind.is_socket() {
        Err(special("socket"))
    } else if kind.is_file() {
        if must_be_folder { Err(special("file in the place of a folder")) } else { Ok(false) }
    } else {
        Err(special("device"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_come_back_as_written_and_caps_hold() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = Files::new();
        files.insert(TreePath::new("truth.json").unwrap(), *b"{}");
        files.insert(TreePath::new("a/b/c.md").unwrap(), *b"hello");
        write_files(&dir.path().join("t"), &files, FILE_MODE).unwrap();
        assert_eq!(read(dir.path(), "t", 10, 7).unwrap(), files);
        assert!(matches!(read(dir.path(), "t", 10, 6), Err(TreeError::TooLarge(6))));
        assert!(matches!(read(dir.path(), "t", 3, 100), Err(TreeError::TooMany(3))));
    }
}
