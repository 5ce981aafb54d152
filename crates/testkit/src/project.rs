//! A project folder that lasts as long as its test.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// A project folder, deleted when it is dropped.
///
/// ```
/// let project = prose_testkit::Project::new()
///     .with("prose.toml", "")
///     .with("contracts/news.prose.md", "---\nname: news\n---\n");
/// assert_eq!(project.read("prose.toml"), "");
/// ```
#[derive(Debug)]
pub struct Project {
    folder: TempDir,
}

impl Project {
    /// An empty folder, at a short path: a Unix socket in it must fit into 108 bytes.
    pub fn new() -> Self {
        let folder = or_panic(tempfile::Builder::new().prefix("prose-").tempdir(), "the project");
        Self { folder }
    }

    /// The same project with this file in it.
    #[must_use]
    pub fn with(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.write(path, text);
        self
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.path(path);
        if let Some(folder) = file.parent() {
            or_panic(fs::create_dir_all(folder), path);
        }
        or_panic(fs::write(&file, text), path);
    }

    /// Reads a file that must be there, as text.
    pub fn read(&self, path: &str) -> String {
        or_panic(fs::read_to_string(self.path(path)), path)
    }

    /// Copies a folder with everything in it to the top of the project.
    #[must_use]
    pub fn with_copy_of(self, folder: &Path) -> Self {
        copy(folder, self.root());
        self
    }

    /// The top folder.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// A path in the project, whether or not something is there.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }
}

impl Default for Project {
    fn default() -> Self {
        Self::new()
    }
}

fn copy(from: &Path, to: &Path) {
    let name = from.display().to_string();
    or_panic(fs::create_dir_all(to), &name);
    for entry in or_panic(fs::read_dir(from), &name) {
        let entry = or_panic(entry, &name);
        let target = to.join(entry.file_name());
        if or_panic(entry.file_type(), &name).is_dir() {
            copy(&entry.path(), &target);
        } else {
            or_panic(fs::copy(entry.path(), target), &name);
        }
    }
}

#[track_caller]
fn or_panic<T>(outcome: std::io::Result<T>, what: &str) -> T {
    match outcome {
        Ok(value) => value,
        Err(error) => panic!("{what}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_can_be_copied_and_goes_away() {
        let first = Project::new().with("a/b.txt", "text").with("c", [0xFF]);
        let second = Project::new().with("d", "").with_copy_of(first.root());
        assert_eq!(second.read("a/b.txt"), "text");
        assert!(second.path("c").exists() && second.path("d").exists());
        let root = first.root().to_owned();
        drop(first);
        assert!(!root.exists());
    }
}
