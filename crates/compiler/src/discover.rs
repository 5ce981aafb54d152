//! Finds the source set under a root.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use prose_contract::{Code, Diagnostic, MAX_BYTES};
use walkdir::{DirEntry, WalkDir};

use crate::Error;

const SUFFIX: &str = ".prose.md";
/// Folders of generated or foreign content.
const SKIPPED: [&str; 6] = ["dist", "runs", "state", "deps", "target", "node_modules"];

/// The source set: root-relative paths with forward slashes to content.
pub(crate) struct Found {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

pub(crate) fn discover(root: &Path) -> Result<Found, Error> {
    let canonical = fs::canonicalize(root).map_err(|source| Error::root(root, source))?;
    fs::read_dir(&canonical).map_err(|source| Error::root(root, source))?;
    let mut found = Found { files: BTreeMap::new(), diagnostics: Vec::new() };
    let walk = WalkDir::new(&canonical)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_skipped(entry));
    for entry in walk {
        match entry {
            Ok(entry) => found.take(&canonical, &entry),
            Err(error) => {
                let path = error.path().map(|p| relative(&canonical, p)).unwrap_or_default();
                found.unreadable(&path, &error);
            }
        }
    }
    Ok(found)
}

impl Found {
    fn take(&mut self, root: &Path, entry: &DirEntry) {
        if entry.depth() == 0 || entry.file_type().is_dir() {
            return;
        }
        let path = relative(root, entry.path());
        let is_source = path.ends_with(SUFFIX);
        let target = if entry.path_is_symlink() {
            match self.follow(root, entry.path(), &path, is_source) {
                Some(target) => target,
                None => return,
            }
        } else {
            entry.path().to_owned()
        };
        if is_source {
            match read(&target) {
                Ok(bytes) => {
                    self.files.insert(path, bytes);
                }
                Err(error) => self.unreadable(&path, &error),
            }
        }
    }

    /// Where a link leads. Links to files inside the root are read; links to folders are not
    /// followed, since what they show is found under its own path.
    fn follow(&mut self, root: &Path, link: &Path, path: &str, is_source: bool) -> Option<PathBuf> {
        match fs::canonicalize(link) {
            Ok(target) if !target.starts_with(root) => {
                if is_source || target.is_dir() {
                    let message = format!("`{path}` is a link that leaves the source root");
                    self.diagnostics.push(Diagnostic::whole(Code::LinkOutside, path, message));
                }
                None
            }
            Ok(target) => (is_source && target.is_file()).then_some(target),
            Err(error) if is_source => {
                self.unreadable(path, &error);
                None
            }
            Err(_) => None,
        }
    }

    fn unreadable(&mut self, path: &str, error: &dyn std::fmt::Display) {
        let message = format!("`{path}` cannot be read: {error}");
        self.diagnostics.push(Diagnostic::whole(Code::FileUnreadable, path, message));
    }
}

/// Reads at most one byte more than a contract may have: enough for the parser to refuse it.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    io::Read::read_to_end(&mut io::Read::take(file, MAX_BYTES as u64 + 1), &mut bytes)?;
    Ok(bytes)
}

/// Hidden folders and those of generated content, also where a link stands in their place.
fn is_skipped(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    !entry.file_type().is_file() && (name.starts_with('.') || SKIPPED.contains(&&*name))
}

fn relative(root: &Path, path: &Path) -> String {
    let inner = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = inner.components().map(|c| c.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}
