//! `dist/`: written whole or not at all, and checked when read.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use prose_ir::{Bundle, Manifest};
use serde::{Serialize, de::DeserializeOwned};

use crate::Error;

/// The manifest of the last compile.
pub const MANIFEST_NEXT: &str = "manifest.next.json";

const FOLDERS: [&str; 3] = ["canonicalizers", "postconditions", "contracts"];

/// Writes a bundle under `dist`. All files are finished under other names first, then renamed into
/// place, the manifest last: a failure to write leaves what was there, and a reader finds the old
/// manifest or the new one.
///
/// # Errors
/// When the bundle breaks its own rules, or a file cannot be written.
pub fn write(bundle: &Bundle, dist: &Path) -> Result<(), Error> {
    bundle.check()?;
    for folder in FOLDERS {
        let path = dist.join(folder);
        fs::create_dir_all(&path).map_err(|e| Error::write(&path, e))?;
    }
    let mut staged = Staged::default();
    staged.all(dist, FOLDERS[0], &bundle.canonicalizers)?;
    staged.all(dist, FOLDERS[1], &bundle.postconditions)?;
    staged.all(dist, FOLDERS[2], &bundle.contracts)?;
    staged.json(dist.join(MANIFEST_NEXT), &bundle.manifest)?;
    staged.publish()?;
    // What an older compile left behind is only removed once nothing points to it.
    FOLDERS.iter().try_for_each(|folder| sweep(&dist.join(folder), bundle))
}

/// Finished files that are not in their places yet.
#[derive(Default)]
struct Staged(Vec<PathBuf>);

impl Staged {
    fn all<T: Serialize>(
        &mut self,
        dist: &Path,
        folder: &str,
        artifacts: &BTreeMap<String, T>,
    ) -> Result<(), Error> {
        artifacts
            .iter()
            .try_for_each(|(node, artifact)| self.json(path(dist, folder, node), artifact))
    }

    fn json<T: Serialize>(&mut self, path: PathBuf, value: &T) -> Result<(), Error> {
        let mut bytes =
            serde_json::to_vec_pretty(value).map_err(|e| Error::write(&path, e.into()))?;
        bytes.push(b'\n');
        let written = fs::write(temporary(&path), &bytes).map_err(|e| Error::write(&path, e));
        self.0.push(path);
        written
    }

    fn publish(mut self) -> Result<(), Error> {
        for path in self.0.drain(..) {
            fs::rename(temporary(&path), &path).map_err(|e| Error::write(&path, e))?;
        }
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        for path in &self.0 {
            // Left over from a failure that is reported already.
            let _ = fs::remove_file(temporary(path));
        }
    }
}

/// The name under which a file is written before it is renamed. Node names hold no `~`.
fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("~");
    PathBuf::from(name)
}

/// Reads the bundle under `dist` and checks it.
///
/// # Errors
/// When a file is missing or not what it should be, or the bundle breaks its own rules.
pub fn read(dist: &Path) -> Result<Bundle, Error> {
    read_manifest(dist, MANIFEST_NEXT)
}

/// Reads the bundle of a manifest by its file name under `dist`.
///
/// # Errors
/// As [`read`].
pub fn read_manifest(dist: &Path, name: &str) -> Result<Bundle, Error> {
    let manifest: Manifest = read_json(&dist.join(name))?;
    // Names become paths, so they are checked before any is used.
    let violations = prose_ir::validate::manifest(&manifest);
    if !violations.is_empty() {
        return Err(prose_ir::BundleError::Manifest(violations).into());
    }
    let names: Vec<String> = manifest.topology.nodes.iter().map(|n| n.node.clone()).collect();
    let bundle = Bundle {
        canonicalizers: read_all(dist, FOLDERS[0], &names)?,
        postconditions: read_all(dist, FOLDERS[1], &names)?,
        contracts: read_all(dist, FOLDERS[2], &names)?,
        manifest,
    };
    bundle.check()?;
    Ok(bundle)
}

fn read_all<T: DeserializeOwned>(
    dist: &Path,
    folder: &str,
    names: &[String],
) -> Result<BTreeMap<String, T>, Error> {
    names.iter().map(|node| Ok((node.clone(), read_json(&path(dist, folder, node))?))).collect()
}

fn path(dist: &Path, folder: &str, node: &str) -> PathBuf {
    dist.join(folder).join(format!("{node}.json"))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let bytes = fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    serde_json::from_slice(&bytes).map_err(|source| Error::Json { path: path.to_owned(), source })
}

fn sweep(folder: &Path, bundle: &Bundle) -> Result<(), Error> {
    let kept: BTreeSet<String> =
        bundle.contracts.keys().map(|node| format!("{node}.json")).collect();
    let entries = fs::read_dir(folder).map_err(|e| Error::write(folder, e))?;
    for entry in entries {
        let entry = entry.map_err(|e| Error::write(folder, e))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".json") && !kept.contains(&*name) {
            fs::remove_file(entry.path()).map_err(|e| Error::write(&entry.path(), e))?;
        }
    }
    Ok(())
}
