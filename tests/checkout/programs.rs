//! Programs of tests that are made of many files, which cargo does not look for.

use std::fs;
use std::path::Path;

use crate::markdown::root;

/// The files of a folder that neither the manifest nor the list of modules names.
fn left_out(package: &Path) -> Vec<String> {
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    let tests = package.join("tests");
    let list = fs::read_to_string(tests.join("main.rs")).unwrap_or_default();
    let mut found = Vec::new();
    for entry in fs::read_dir(tests).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_test = path.extension().is_some_and(|extension| extension == "rs")
            || path.join("main.rs").exists()
            || path.join("mod.rs").exists();
        let named = list.contains(&format!("mod {name};\n"))
            || manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
        if is_test && name != "main" && !named {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn no_file_of_tests_is_left_out_of_its_program() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    for entry in fs::read_dir(root().join("tests")).unwrap() {
        let package = entry.unwrap().path();
        let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap_or_default();
        if manifest.contains("\nautotests = false\n") {
            wrong.extend(left_out(&package));
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
