//! No file is longer than 300 lines. `tests/checkout/map.rs` of the workspace checks which module uses which.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of the crate, without its tests, and their text outside of `mod tests { … }`.
fn files() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_owned();
                let text = fs::read_to_string(path).unwrap();
                let (text, _) = text.split_once("mod tests {").unwrap_or((&text, ""));
                found.push((name, text.to_owned()));
            }
        }
    }
    found.retain(|(name, _)| !name.to_str().unwrap().contains("tests"));
    found
}

#[test]
fn no_file_is_longer_than_300_lines() {
    for (name, text) in files() {
        let lines = text.lines().count();
        assert!(lines <= 300, "{}: {lines}", name.display());
    }
}
