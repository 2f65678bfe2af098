//! `docs/RELIABILITY.md` names tests and commands that exist, and has a row for each promise.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::markdown::{files, quoted, read, root, table};

const PAGE: &str = "docs/RELIABILITY.md";

/// The file that a path on the page means.
fn file(path: &str) -> PathBuf {
    let below_tests = root().join("tests").join(path);
    if below_tests.exists() {
        below_tests
    } else {
        root().join(path)
    }
}

/// The functions of a source file that have an attribute of a test.
fn tests(source: &str) -> BTreeSet<&str> {
    let mut is_test = false;
    let mut tests = BTreeSet::new();
    for line in source.lines().map(str::trim) {
        let path = line
            .strip_prefix("#[")
            .and_then(|attribute| attribute.split([']', '(']).next());
        is_test |= path.is_some_and(|path| path == "test" || path.ends_with("::test"));
        let line = line.trim_start_matches("async ");
        if let Some((name, _)) = line
            .strip_prefix("fn ")
            .and_then(|rest| rest.split_once(['(', '<']))
        {
            if std::mem::take(&mut is_test) {
                tests.insert(name);
            }
        }
    }
    tests
}

fn is_test(path: &str, name: &str) -> bool {
    let path = file(path);
    let source = fs::read_to_string(&path);
    let source = source.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if tests(&source).contains(name) {
        return true;
    }
    // Targets with a `main` of their own list their tests.
    let main = fs::read_to_string(path.with_file_name("main.rs")).unwrap_or_default();
    let listed = |start: &str, end: &str| main.contains(&format!("{start}{name}{end}"));
    listed("::", ",") || listed("::", ";") || listed("trial(\n            \"", "\",")
}

/// Names with less than two `_` are not of tests, but of keys and values.
fn names_a_test(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.matches('_').count() >= 2 && text.chars().all(letter)
}

#[test]
fn each_test_on_the_page_exists_in_the_file_before_it() {
    let page = read(PAGE);
    let mut path = None;
    let mut named = 0;
    let mut missing = Vec::new();
    for line in page.lines() {
        if line.starts_with('|') || line.starts_with('-') {
            path = None;
        }
        for text in quoted(line) {
            if text.strip_suffix(".rs").is_some() {
                path = Some(text);
            } else if names_a_test(text) {
                named += 1;
                if !path.is_some_and(|path| is_test(path, text)) {
                    missing.push(format!("{path:?}: {text}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(named > 120, "{named}");
}

#[test]
fn each_promise_and_each_fault_has_a_test() {
    let page = read(PAGE);
    let promises = table(&read("src/guide/promises.md"), "| | promise | test |");
    let rows = table(&page, "| | promise | shown by | figure |");
    let number = |rows: &[Vec<String>]| rows.iter().map(|row| row[0].clone()).collect::<Vec<_>>();
    assert_eq!(number(&rows), number(&promises));
    let mut faults = 0;
    for part in page.split("\n## ") {
        if !part.contains("| fault | test |") {
            continue;
        }
        for row in table(part, "| fault | test |") {
            faults += 1;
            let shown = quoted(&row[1]).any(names_a_test) || row[1].starts_with("no test: ");
            assert!(shown, "{row:?}");
        }
    }
    for row in rows {
        assert!(quoted(&row[2]).any(names_a_test), "{row:?}");
    }
    assert!(faults > 80, "{faults}");
}

#[test]
fn each_command_on_the_page_is_for_a_package_a_target_and_a_script_that_exist() {
    let page = read(PAGE);
    let manifests = files(root(), "Cargo.toml");
    let mut commands = 0;
    for command in page.lines().flat_map(quoted) {
        let mut words = command.split(' ').skip_while(|word| word.contains('='));
        let program = words.next().unwrap_or_default();
        let is_script = program.starts_with(".ci/");
        assert!(!is_script || root().join(program).exists(), "{command}");
        commands += u32::from(is_script || program == "cargo");
        if program != "cargo" {
            continue;
        }
        // The package of the root has no `-p`.
        let mut named: Vec<_> = manifests
            .iter()
            .filter(|(path, _)| path.parent() == Some(root()))
            .collect();
        let mut is_first = true;
        while let Some(word) = words.next() {
            match word {
                "-p" => {
                    let name = format!("name = \"{}\"", words.next().unwrap());
                    let package = manifests
                        .iter()
                        .find(|(_, manifest)| manifest.contains(&format!("[package]\n{name}\n")));
                    if std::mem::take(&mut is_first) {
                        named.clear();
                    }
                    named.push(package.unwrap_or_else(|| panic!("no package: {command}")));
                }
                "--test" | "--example" => {
                    let target = words.next().unwrap();
                    let has = |(path, manifest): &&(PathBuf, String)| {
                        let place = path.with_file_name(format!("{}s", &word[2..]));
                        manifest.contains(&format!("[[{}]]\nname = \"{target}\"", &word[2..]))
                            || place.join(format!("{target}.rs")).exists()
                            || place.join(target).join("main.rs").exists()
                    };
                    assert!(named.iter().any(&has), "{command}");
                }
                // What follows is for the program.
                "--" => break,
                _ => {}
            }
        }
    }
    assert!(commands >= 16, "{commands}");
}

#[test]
fn the_number_of_tests_on_the_page_is_right() {
    let page = read(PAGE);
    let sources = files(root(), ".rs");
    let all: usize = sources.iter().map(|(_, source)| tests(source).len()).sum();
    assert!(page.contains("more than 1,150, and each example"));
    assert!(all > 1_150, "{all}");
}
