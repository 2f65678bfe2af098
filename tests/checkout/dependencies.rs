//! The lists of crates that users of this crate compile.
//!
//! The commit that adds a dependency adds its name here.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;

use crate::markdown::read;

/// The crates that a package needs, itself included.
fn crates(package: &str) -> BTreeSet<String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--package", package])
        .args([
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let name = |line: &str| line.split(' ').next().map(str::to_owned);
    text.lines()
        .filter(|line| !line.is_empty())
        .filter_map(name)
        .collect()
}

const MACROS: [&str; 6] = [
    "proc-macro2",
    "quote",
    "retry-macros",
    "strsim",
    "syn",
    "unicode-ident",
];

#[test]
fn the_macro_is_six_crates() {
    assert_eq!(crates("retry-macros"), MACROS.map(str::to_owned).into());
}

#[test]
fn the_facade_brings_thirteen_crates_more() {
    let mut expected: BTreeSet<_> = MACROS.map(str::to_owned).into();
    let runtime = [
        // `uuid` reads the randomness of the operating system through these crates.
        "cfg-if",
        "getrandom",
        "libc",
        "pin-project-lite",
        "rand",
        "rand_core",
        "reattempt",
        "retry-runtime",
        "scoped-tls-hkt",
        "tokio",
        "tracing",
        "tracing-core",
        "uuid",
    ];
    expected.extend(runtime.map(str::to_owned));
    let found = crates("reattempt");
    assert_eq!(found, expected);
    let count = found.len();
    for (page, said) in [
        (
            "README.md",
            format!("A program compiles {count} crates for it"),
        ),
        ("docs/COMPARISON.md", format!("`reattempt` is {count}, ")),
        (
            "docs/COMPARISON.md",
            format!("itself included | {count} | "),
        ),
    ] {
        assert!(read(page).contains(&said), "{page}: {said}");
    }
}
