//! `dist/`: written whole or not at all, and checked when read.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use prose_ir::{Bundle, Manifest};
use serde::{Serialize, de::DeserializeOwned};

use crate::Error;

/// The manifest of the last compile.
pub const MANIFEST_NEXT: &str = "manifest.next.json";

const FOLDERS: [&str; 3] = ["canonicalizers", "postconditions", "contracts"];

/// Writes a bundle under `dist`: the artifacts first, the manifest last, each by renaming a
/// finished file into place. A reader sees the old manifest or the new one.
///
/// # Errors
/// When the bundle breaks its own rules, or a file cannot be written.
pub fn write(bundle: &Bundle, dist: &Path) -> Result<(), Error> {
    bundle.check()?;
    for folder in FOLDERS {
        let path = dist.join(folder);
        fs::create_dir_all(&path).map_err(|e| Error::write(&path, e))?;
    }
    write_all(dist, FOLDERS[0], &bundle.canonicalizers)?;
    write_all(dist, FOLDERS[1], &bundle.postconditions)?;
    write_all(dist, FOLDERS[2], &bundle.contracts)?;
    write_json(&dist.join(MANIFEST_NEXT), &bundle.manifest)?;
    // What an older compile left behind is only removed once nothing points to it.
    for folder in FOLDERS {
        sweep(&dist.join(folder), bundle)?;
    }
    Ok(())
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

fn write_all<T: Serialize>(
    dist: &Path,
    folder: &str,
    artifacts: &BTreeMap<String, T>,
) -> Result<(), Error> {
    artifacts
        .iter()
        .try_for_each(|(node, artifact)| write_json(&path(dist, folder, node), artifact))
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

fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|e| Error::write(path, e.into()))?;
    bytes.push(b'\n');
    let temporary = path.with_extension("json.tmp");
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        // The half-written file is of no use; the error that matters is the first.
        let _ = fs::remove_file(&temporary);
        Error::write(path, error)
    })
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
