//! `docs/ERRORS.md` quotes errors of the compiler and of the macro.

use std::path::Path;
use std::{env, fs};

#[test]
fn each_quoted_error_is_one_that_the_compiler_gives() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let real_code = root.join("tests/ui/corpus/refused.stderr");
    let mut said = fs::read_to_string(real_code).unwrap();
    for entry in fs::read_dir(root.join("tests/ui/fail")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "stderr")
        {
            said.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    // The tests of the macro check the errors that need no compiler.
    let refused = root.join("retry-macros/src/lower/tests/refused.txt");
    for line in fs::read_to_string(refused).unwrap().lines() {
        if let Some(first) = line.strip_prefix("  ") {
            said.extend(["error: ", first, "\n"]);
        }
    }
    said.push_str(&fs::read_to_string(root.join("retry-macros/src/tests/refused.txt")).unwrap());
    let said: Vec<_> = said.lines().collect();
    let page = fs::read_to_string(root.join("docs/ERRORS.md")).unwrap();
    let quoted: Vec<_> = page
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| ``error")?.split_once("`` | ")?.0))
        .map(|rest| {
            format!(
                "error{}",
                rest.strip_suffix("` ")
                    .map_or_else(|| rest.to_owned(), |rest| format!("{rest}`"))
            )
        })
        .collect();
    assert!(quoted.len() >= 30, "{}", quoted.len());
    let invented: Vec<_> = quoted
        .iter()
        .filter(|line| !said.contains(&line.as_str()))
        .collect();
    assert!(invented.is_empty(), "{invented:#?}");
}
