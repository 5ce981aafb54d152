//! `prose init`

use std::{
    borrow::Cow,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde_json::json;

use super::Context;
use crate::{
    cli::Folder,
    config,
    error::{self, Exit, Explain},
};

/// What a new project consists of, besides its `prose.toml`.
const FILES: &[(&str, &str)] = &[
    ("pantry.prose.md", include_str!("init_project/pantry.prose.md")),
    ("shopping-list.prose.md", include_str!("init_project/shopping-list.prose.md")),
    ("jq/shopping-list.jq", include_str!("init_project/jq/shopping-list.jq")),
    ("feed.jsonl", include_str!("init_project/feed.jsonl")),
    (".gitignore", "/.prose/\n/dist/\n"),
];

/// What its `prose.toml` says besides the defaults.
const NODES: &str = "\n[nodes.shopping-list]\njq = \"jq/shopping-list.jq\"\n";

/// Why no project could be made.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{} is there already; nothing was written", .0.display())]
    Exists(PathBuf),
    #[error("{} cannot be written", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
}

impl Explain for Error {
    fn code(&self) -> Cow<'static, str> {
        match self {
            Self::Exists(_) => "file_exists".into(),
            Self::Unwritable { .. } => "folder_unwritable".into(),
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::Exists(_) => Some("name another folder".into()),
            Self::Unwritable { .. } => None,
        }
    }
}

pub(super) fn run(context: &Context, folder: Folder) -> Result<Exit, error::Error> {
    let dir = folder.dir.or_else(|| context.common.project.clone()).unwrap_or_else(|| ".".into());
    let config = format!("{}{NODES}", config::DEFAULT);
    let files: Vec<(PathBuf, &str)> = FILES
        .iter()
        .copied()
        .chain([(config::FILE, config.as_str())])
        .map(|(name, text)| (dir.join(name), text))
        .collect();
    write(&files)?;
    let dir_shown = dir.display();
    if context.output.json {
        let paths: Vec<_> = files.iter().map(|(path, _)| path).collect();
        context.output.document(&json!({"project": dir, "files": paths}))?;
    } else {
        context.output.text(&format!(
            "A project is ready in {dir_shown}. Run it over its example events:\n\n  \
             prose up {dir_shown} --feed {} --exit-when-quiet\n",
            dir.join("feed.jsonl").display(),
        ))?;
    }
    Ok(Exit::Fine)
}

/// Writes all files or, where one is there already, none.
fn write(files: &[(PathBuf, &str)]) -> Result<(), Error> {
    if let Some((path, _)) = files.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        return Err(Error::Exists(path.clone()));
    }
    files.iter().try_for_each(|(path, text)| {
        write_new(path, text).map_err(|source| Error::Unwritable { path: path.clone(), source })
    })
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // Another process may have made it since it was looked for.
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}
