//! Modules know what is below them only, and none is long.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of the crate, without its tests, and what they hold outside of `mod tests { … }`.
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

/// The modules of the crate's root that each of them names.
fn uses() -> BTreeMap<String, BTreeSet<String>> {
    let mut uses = BTreeMap::<_, BTreeSet<String>>::new();
    for (name, text) in files() {
        let module = name.iter().next().unwrap().to_str().unwrap();
        let module = module.trim_end_matches(".rs").to_owned();
        let named = uses.entry(module.clone()).or_default();
        for rest in text.split("crate::").skip(1) {
            let list = match rest.strip_prefix('{') {
                Some(inside) => inside.split('}').next().unwrap(),
                None => rest,
            };
            let several = rest.starts_with('{');
            for name in list.split(',').take(if several { usize::MAX } else { 1 }) {
                let end = name.trim().find(|c: char| !c.is_alphanumeric() && c != '_');
                let name = name.trim();
                named.insert(name[..end.unwrap_or(name.len())].to_owned());
            }
        }
        named.remove(&module);
    }
    uses
}

#[test]
fn modules_form_no_circle() {
    let mut uses = uses();
    let modules: BTreeSet<_> = uses.keys().cloned().collect();
    for named in uses.values_mut() {
        named.retain(|name| modules.contains(name));
    }
    // Those that use none of what is left go, until none is left.
    while !uses.is_empty() {
        let free: Vec<_> = uses
            .iter()
            .filter(|(_, named)| named.is_empty())
            .map(|(module, _)| module.clone())
            .collect();
        assert!(!free.is_empty(), "a circle among {uses:#?}");
        uses.retain(|module, _| !free.contains(module));
        for named in uses.values_mut() {
            named.retain(|name| !free.contains(name));
        }
    }
}
