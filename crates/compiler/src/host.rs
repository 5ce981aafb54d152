//! What the host offers: looked up, never run, never read.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// The host as far as a compile may ask about it.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// Folders in which executables are looked up.
    pub path: Vec<PathBuf>,
    /// Registered MCP servers.
    pub mcp: BTreeSet<String>,
    /// Folders that hold skills, in order of precedence; `compile` puts the project's own first.
    pub skills: Vec<PathBuf>,
    /// Names of the environment variables that are set.
    pub environment: BTreeSet<String>,
    /// Takes every well-formed tool, skill and variable for granted: for a compile whose renders
    /// run on other machines.
    pub trusting: bool,
}

impl Host {
    /// A host that has everything.
    pub fn trusting() -> Self {
        Self { trusting: true, ..Self::default() }
    }

    /// A host described by a `PATH`, a home folder, and the names of the variables that are set.
    pub fn new(
        path: Option<&OsStr>,
        home: Option<&Path>,
        environment: impl IntoIterator<Item = String>,
    ) -> Self {
        let agents = [".claude/skills", ".codex/skills", ".agents/skills"];
        Self {
            // A relative entry would make the answer depend on where the program was started.
            path: path
                .map(|p| std::env::split_paths(p).filter(|f| f.is_absolute()).collect())
                .unwrap_or_default(),
            skills: home.map(|home| agents.map(|a| home.join(a)).to_vec()).unwrap_or_default(),
            environment: environment.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The same host with the skills of a project before all others.
    #[must_use]
    pub(crate) fn with_project(&self, root: &Path) -> Self {
        let mut host = self.clone();
        host.skills.insert(0, root.join("skills"));
        host
    }

    pub(crate) fn has_executable(&self, name: &str) -> bool {
        self.trusting || self.path.iter().any(|folder| is_executable(&folder.join(name)))
    }

    pub(crate) fn has_mcp(&self, name: &str) -> bool {
        self.trusting || self.mcp.contains(name)
    }

    /// `namespace:name` is looked up as `name` and as `namespace/name`.
    pub(crate) fn has_skill(&self, skill: &str) -> bool {
        let (namespace, name) = skill.split_once(':').unwrap_or(("", skill));
        self.trusting
            || self.skills.iter().any(|folder| {
                folder.join(name).is_dir()
                    || !namespace.is_empty() && folder.join(namespace).join(name).is_dir()
            })
    }

    pub(crate) fn has_variable(&self, name: &str) -> bool {
        self.trusting || self.environment.contains(name)
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}
