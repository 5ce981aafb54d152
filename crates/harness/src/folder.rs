//! The task folder: made before a session, judged after it, removed with everything in it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_truth::Files;
use uuid::Uuid;

use crate::failure::{FailureCode, SessionFailure};
use crate::limits::Limits;
use crate::process;
use crate::task::{TaskSpec, event_path};
use crate::tree::{self, TreeError};

const READ_ONLY_FOLDERS: [&str; 4] = ["inputs", "prior", "events", "functions"];
const READ_ONLY_FILES: [&str; 2] = ["contract.md", "task.json"];
pub(crate) const PUBLISHED: &str = "published";
pub(crate) const WORKSPACE: &str = "workspace";
pub(crate) const RESULT: &str = "result.json";

/// Why a task folder could not be made.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The name of a need, producer or function that is no path segment.
    #[error("{path:?} cannot be a name in a task folder")]
    Path {
        /// As given.
        path: String,
    },
    /// Two inputs claim the same file with different content.
    #[error("two inputs hold different content for {path}")]
    Conflict {
        /// Below the task folder.
        path: String,
    },
    /// `task.json` could not be written down.
    #[error("the task is not JSON")]
    Json(#[from] serde_json::Error),
    /// The file system refused.
    #[error("cannot write the task folder {}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl FolderError {
    /// The stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Path { .. } => "task_path",
            Self::Conflict { .. } => "task_input_conflict",
            Self::Json(_) => "task_json",
            Self::Io { .. } => "task_folder_io",
        }
    }
}

/// A task folder on disk, owner-only. It is removed when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct TaskFolder(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    session: Uuid,
    /// What the session must leave as it is.
    sealed: BTreeMap<String, Seal>,
}

#[derive(Debug, PartialEq, Eq)]
struct Seal {
    bytes: u64,
    hash: blake3::Hash,
}

type Sealed<'a> = BTreeMap<String, Cow<'a, [u8]>>;

impl TaskFolder {
    /// Makes a new folder for `spec` below `parent`, which is made as well when it is missing.
    ///
    /// # Errors
    ///
    /// Unsafe paths, contradicting inputs, and what the file system says. Nothing is left behind.
    pub fn create(parent: &Path, spec: &TaskSpec) -> Result<Self, FolderError> {
        let read_only = read_only(spec)?;
        let session = Uuid::now_v7();
        // To a session, whose working folder this is, a relative path would be another place.
        let parent = std::path::absolute(parent)
            .map_err(|source| FolderError::Io { path: parent.to_owned(), source })?;
        let root = parent.join(session.to_string());
        let sealed = read_only.iter().map(|(path, bytes)| (path.clone(), Seal::of(bytes)));
        // From here on, dropping the value removes what was written so far.
        let inner = Inner { sealed: sealed.collect(), root, session };
        inner
            .write(&read_only, &spec.prior)
            .map_err(|source| FolderError::Io { path: inner.root.clone(), source })?;
        Ok(Self(Arc::new(inner)))
    }

    /// Clears `parent` of what a killed worker left: folders, and the processes that still run in
    /// them. Says how many folders there were.
    ///
    /// For the start of a worker that has `parent` to itself; everything else in it stays. Blocks.
    ///
    /// # Errors
    ///
    /// What the file system says; a `parent` that does not exist is clear.
    pub fn sweep(parent: &Path) -> io::Result<usize> {
        let entries = match fs::read_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            entries => entries?,
        };
        let mut count = 0;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let Some(session) = name.to_str().filter(|name| Uuid::try_parse(name).is_ok()) else {
                continue;
            };
            if !process::kill_orphans(session) {
                tracing::error!(session, "processes of a left session outlived KILL");
            }
            tree::remove(&entry.path())?;
            count += 1;
        }
        Ok(count)
    }

    /// Where it is.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.0.root
    }

    /// The session that runs in it; marks its processes.
    #[must_use]
    pub fn session(&self) -> Uuid {
        self.0.session
    }

    /// Removes the folder now and says whether that worked.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub fn close(self) -> io::Result<()> {
        tree::remove(&self.0.root)
    }

    /// What the session published, within the caps.
    pub(crate) fn published(&self, limits: &Limits) -> Result<Files, SessionFailure> {
        self.0.published(limits)
    }

    /// That the session wrote only where it may.
    pub(crate) fn check_untouched(&self) -> Result<(), SessionFailure> {
        self.0.check_untouched()
    }
}

impl Inner {
    fn write(&self, read_only: &Sealed<'_>, prior: &Files) -> io::Result<()> {
        tree::make_folder(&self.root)?;
        for name in READ_ONLY_FOLDERS {
            tree::make_folder(&self.root.join(name))?;
        }
        for (path, bytes) in read_only {
            let path = self.root.join(path);
            if let Some(parent) = path.parent() {
                tree::make_folder(parent)?;
            }
            tree::write_new(&path, bytes, tree::FILE_MODE_READ_ONLY)?;
        }
        for name in READ_ONLY_FOLDERS {
            tree::set_folder_modes(&self.root.join(name), tree::FOLDER_MODE_READ_ONLY)?;
        }
        tree::make_folder(&self.root.join(WORKSPACE))?;
        tree::write_files(&self.root.join(PUBLISHED), prior, tree::FILE_MODE)
    }

    fn published(&self, limits: &Limits) -> Result<Files, SessionFailure> {
        tree::read(&self.root, PUBLISHED, limits.published_files, limits.published_bytes).map_err(
            |error| match error {
                TreeError::TooMany(_) | TreeError::TooLarge(_) => SessionFailure::new(
                    FailureCode::PublishedLimit,
                    format!("the session published too much: {error}"),
                ),
                TreeError::Io { .. } => SessionFailure::new(
                    FailureCode::FolderUnreadable,
                    format!("what the session published cannot be read: {error}"),
                ),
                TreeError::Special { .. } | TreeError::Name(_) | TreeError::Path(_) => {
                    SessionFailure::new(
                        FailureCode::PublishedInvalid,
                        format!("what the session published is no truth: {error}"),
                    )
                }
            },
        )
    }

    fn check_untouched(&self) -> Result<(), SessionFailure> {
        self.check_top()?;
        for name in READ_ONLY_FOLDERS {
            self.check_nothing_added(name)?;
        }
        for (path, seal) in &self.sealed {
            let read = tree::read_capped(&self.root.join(path), seal.bytes);
            if !matches!(&read, Ok(Some(bytes)) if Seal::of(bytes) == *seal) {
                return Err(changed(path, "was changed or removed"));
            }
        }
        Ok(())
    }

    fn check_top(&self) -> Result<(), SessionFailure> {
        let unreadable = |error: io::Error| {
            let reason = format!("the task folder cannot be read after the session: {error}");
            SessionFailure::new(FailureCode::FolderUnreadable, reason)
        };
        for entry in fs::read_dir(&self.root).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name();
            let known = name.to_str().is_some_and(|name| {
                READ_ONLY_FOLDERS.contains(&name)
                    || READ_ONLY_FILES.contains(&name)
                    || [PUBLISHED, WORKSPACE, RESULT].contains(&name)
            });
            if !known {
                return Err(changed(&name.to_string_lossy(), "appeared"));
            }
        }
        Ok(())
    }

    fn check_nothing_added(&self, name: &str) -> Result<(), SessionFailure> {
        let mut added = None;
        let walked = tree::walk(&self.root, name, usize::MAX, &mut |_, relative| {
            let path = format!("{name}/{relative}");
            if !self.sealed.contains_key(&path) {
                added = Some(path);
            }
            Ok(())
        });
        match (walked, added) {
            (Err(error), _) => Err(changed(name, &format!("was changed: {error}"))),
            (Ok(()), Some(path)) => Err(changed(&path, "appeared")),
            (Ok(()), None) => Ok(()),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Err(error) = tree::remove(&self.root) {
            tracing::warn!(folder = %self.root.display(), %error, "a task folder stays behind");
        }
    }
}

impl Seal {
    fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, hash: blake3::hash(bytes) }
    }
}

fn changed(path: &str, how: &str) -> SessionFailure {
    let reason = format!("{path} {how}; a session may write only published/ and workspace/");
    SessionFailure::new(FailureCode::FolderChanged, reason)
}

fn check_name(name: &str) -> Result<(), FolderError> {
    if tree::is_safe_segment(name) {
        Ok(())
    } else {
        Err(FolderError::Path { path: name.to_owned() })
    }
}

/// Everything a session reads, by path.
fn read_only(spec: &TaskSpec) -> Result<Sealed<'_>, FolderError> {
    let mut files = Sealed::new();
    files.insert("contract.md".into(), spec.contract.as_bytes().into());
    files.insert("task.json".into(), serde_json::to_vec_pretty(&spec.task())?.into());
    for (name, text) in &spec.functions {
        check_name(name)?;
        files.insert(format!("functions/{name}.md"), text.as_bytes().into());
    }
    for (index, event) in spec.events.iter().enumerate() {
        files.insert(event_path(index + 1), event.as_slice().into());
    }
    for (path, bytes) in spec.prior.iter() {
        files.insert(format!("prior/{path}"), bytes.as_ref().into());
    }
    add_inputs(spec, &mut files)?;
    Ok(files)
}

fn add_inputs<'a>(spec: &'a TaskSpec, files: &mut Sealed<'a>) -> Result<(), FolderError> {
    for input in &spec.inputs {
        check_name(&input.need)?;
        for source in &input.sources {
            check_name(&source.producer)?;
            for (path, bytes) in source.files.iter().flat_map(Files::iter) {
                let path = format!("{}/{path}", input.source_path(source));
                let bytes = Cow::from(bytes.as_ref());
                if files.insert(path.clone(), bytes.clone()).is_some_and(|other| other != bytes) {
                    return Err(FolderError::Conflict { path });
                }
            }
        }
    }
    Ok(())
}
