//! The project folder: finding it, and the places in it.

use std::{
    borrow::Cow,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    config::{self, Config},
    error::{self, Explain},
};

/// A folder with a `prose.toml`.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    /// The folder, absolute.
    pub root: PathBuf,
    /// What its `prose.toml` says.
    pub config: Config,
}

/// Why there is no project to work on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("there is no folder {}", .0.display())]
    Missing(PathBuf),
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    #[error("{} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the folder {} is empty", .0.display())]
    Empty(PathBuf),
    #[error("{} is not a project: it has no {}", .0.display(), config::FILE)]
    NoProject(PathBuf),
    #[error("no {} in {} or a folder above it", config::FILE, .0.display())]
    NotInProject(PathBuf),
    #[error("{} is not UTF-8 text", .0.display())]
    NotText(PathBuf),
}

impl Explain for Error {
    fn code(&self) -> Cow<'static, str> {
        match self {
            Self::Missing(_) => "folder_missing",
            Self::NotAFolder(_) => "folder_not_a_folder",
            Self::Unreadable { .. } => "folder_unreadable",
            Self::Empty(_) => "folder_empty",
            Self::NoProject(_) | Self::NotInProject(_) => "project_not_found",
            Self::NotText(_) => "config_syntax",
        }
        .into()
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::Empty(path) => Some(format!("make it one: prose init {}", path.display())),
            Self::NoProject(_) => Some(format!(
                "name the folder that holds {}, or make a project with `prose init DIR`",
                config::FILE
            )),
            Self::NotInProject(_) => {
                Some("go to a project, name one with `-C DIR`, or make one: prose init DIR".into())
            }
            _ => None,
        }
    }
}

impl Project {
    /// The project in `dir`, or the one that the working folder belongs to.
    pub fn find(dir: Option<&Path>) -> Result<Self, error::Error> {
        let root = match dir {
            Some(dir) => named(dir)?,
            None => above()?,
        };
        let path = root.join(config::FILE);
        // Shown as short as the person gave it.
        let shown = dir.map_or_else(|| PathBuf::from(config::FILE), |dir| dir.join(config::FILE));
        let bytes =
            fs::read(&path).map_err(|source| Error::Unreadable { path: shown.clone(), source })?;
        let text = String::from_utf8(bytes).map_err(|_| Error::NotText(shown.clone()))?;
        let config = Config::parse(&shown, &text)?;
        Ok(Self { root, config })
    }

    /// Where the contracts are.
    pub fn source(&self) -> PathBuf {
        self.root.join(&self.config.source)
    }

    /// Where compiles go.
    pub fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }

    /// What this program keeps: for the owner only.
    pub fn private(&self) -> PathBuf {
        self.root.join(".prose")
    }

    /// The store.
    pub fn state(&self) -> PathBuf {
        self.private().join("state")
    }

    /// The signing key.
    pub fn key(&self) -> PathBuf {
        self.private().join("key.pem")
    }

    /// Where `up` serves.
    pub fn socket(&self) -> PathBuf {
        self.private().join("prose.sock")
    }

    /// Where sessions run.
    pub fn tasks(&self) -> PathBuf {
        self.private().join("tasks")
    }

    /// The name of the reactor: as configured, or that of the folder.
    pub fn reactor(&self) -> String {
        let named = self.config.reactor.clone();
        named.unwrap_or_else(|| slug(&self.root.file_name().unwrap_or_default().to_string_lossy()))
    }
}

/// How long the name of a reactor may be.
pub(crate) const REACTOR_MAX: usize = 63;

/// Makes a name of the characters that names are made of.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars().map(|c| c.to_ascii_lowercase()) {
        match letter {
            'a'..='z' | '0'..='9' => slug.push(letter),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(REACTOR_MAX);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "project".to_owned() } else { slug.to_owned() }
}

fn named(dir: &Path) -> Result<PathBuf, Error> {
    let unreadable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Error::Missing(dir.to_owned()),
        io::ErrorKind::NotADirectory => Error::NotAFolder(dir.to_owned()),
        _ => Error::Unreadable { path: dir.to_owned(), source },
    };
    let root = fs::canonicalize(dir).map_err(unreadable)?;
    let mut entries = fs::read_dir(&root).map_err(unreadable)?;
    if root.join(config::FILE).is_file() {
        return Ok(root);
    }
    let is_empty = entries.next().is_none();
    Err(if is_empty { Error::Empty(dir.to_owned()) } else { Error::NoProject(dir.to_owned()) })
}

fn above() -> Result<PathBuf, Error> {
    let here = Path::new(".");
    let unreadable = |source| Error::Unreadable { path: here.to_owned(), source };
    let folder = std::env::current_dir().map_err(unreadable)?;
    let found = folder.ancestors().find(|folder| folder.join(config::FILE).is_file());
    found.map(Path::to_owned).ok_or(Error::NotInProject(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_name_becomes_a_reactor_name() {
        for (name, expected) in [
            ("Competitor Watch", "competitor-watch"),
            ("_x__y_", "x-y"),
            ("日本", "project"),
            ("a.b", "a-b"),
        ] {
            assert_eq!(slug(name), expected);
        }
    }
}
