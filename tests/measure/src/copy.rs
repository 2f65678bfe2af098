//! A copy of the checkout, with this crate among its dependencies.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::Result;

/// Copies the checkout to `target/measure`.
pub(crate) fn prepare(checkout: &Path) -> Result<PathBuf> {
    let checkout = checkout.canonicalize()?;
    let name = checkout
        .file_name()
        .ok_or("expected the path of a folder")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .ok_or("this package is two folders below the root")?;
    let copy = root.join("target/measure").join(name);
    measure::copy(&checkout, &copy)?;
    let mut manifests = Vec::new();
    files(&copy, "Cargo.toml", &mut manifests)?;
    for manifest in manifests {
        let mut text = fs::read_to_string(&manifest)?;
        if text.contains("[package]") {
            let root = root.display();
            text = format!("{text}\n[dependencies.reattempt]\npath = '{root}'\n");
        }
        if manifest == copy.join("Cargo.toml") && !text.contains("[workspace]") {
            // The copy is in the folder of a workspace, but is not a member of it.
            text += "\n[workspace]\n";
        }
        measure::write(&manifest, text.as_bytes())?;
    }
    Ok(copy)
}

/// The source files of a copy, by their paths in it.
pub(crate) fn sources(copy: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    files(copy, ".rs", &mut found)?;
    let within = |file: &PathBuf| {
        let file = file.strip_prefix(copy).ok()?;
        Some(file.to_str()?.to_owned())
    };
    Ok(found.iter().filter_map(within).collect())
}

fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if !measure::is_left_out(&path) {
                files(&path, ending, found)?;
            }
        } else if path.to_str().is_some_and(|path| path.ends_with(ending)) {
            found.push(path);
        }
    }
    Ok(())
}
