//! The lists of crates that users of this crate compile.
//!
//! The commit that adds a dependency adds its name here.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::markdown::{files, read, root};

/// What a command of cargo prints, in this folder. None of these commands compiles anything.
fn cargo(folder: &Path, arguments: &[&str]) -> String {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // It switches on the options of cargo that are unstable.
    command.env("RUSTC_BOOTSTRAP", "1");
    let output = command.args(arguments).current_dir(folder).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The crates that a package needs, itself included, each with its version.
fn tree(folder: &Path, arguments: &[&str]) -> BTreeSet<String> {
    let tree = [
        "tree",
        "--edges=normal,build",
        "--prefix=none",
        "--format={p}",
    ];
    let text = cargo(folder, &[&tree, arguments].concat());
    let crates = text.lines().filter(|line| !line.is_empty());
    // The path of a package follows in brackets.
    crates
        .map(|line| line.split(" (").next().unwrap().to_owned())
        .collect()
}

/// The names of the crates that a package needs, itself included.
fn crates(package: &str) -> BTreeSet<String> {
    let crates = tree(root(), &["--locked", "--package", package]);
    let name = |line: &String| line.split(' ').next().unwrap().to_owned();
    crates.iter().map(name).collect()
}

const MACROS: [&str; 6] = [
    "proc-macro2",
    "quote",
    "reattempt-macros",
    "strsim",
    "syn",
    "unicode-ident",
];

#[test]
fn the_macro_is_six_crates() {
    assert_eq!(crates("reattempt-macros"), MACROS.map(str::to_owned).into());
}

#[test]
fn the_facade_brings_twelve_crates_more() {
    let mut expected: BTreeSet<_> = MACROS.map(str::to_owned).into();
    let runtime = [
        // `rand` reads the randomness of the operating system through these crates.
        "cfg-if",
        "getrandom",
        "libc",
        "pin-project-lite",
        "rand",
        "rand_core",
        "reattempt",
        "reattempt-runtime",
        "scoped-tls-hkt",
        "tokio",
        "tracing",
        "tracing-core",
    ];
    expected.extend(runtime.map(str::to_owned));
    let found = crates("reattempt");
    assert_eq!(found, expected);
    let count = found.len();
    let page = read("docs/COMPARISON.md");
    for said in [
        format!("`reattempt` is {count}, "),
        format!("itself included | {count} | "),
    ] {
        assert!(page.contains(&said), "{said}");
    }
}

/// Its resolver takes the newest version of each crate, whatever Rust there is. That of edition 2024 takes one that the
/// project's Rust can build.
#[test]
#[ignore = "it asks the registry for the newest versions: `cargo test --test checkout -- --ignored`, as `.ci/run` does"]
fn a_project_of_edition_2021_gets_no_crate_that_needs_a_newer_rust() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("edition-2021");
    fs::create_dir_all(&folder).unwrap();
    let ours = root().display();
    let manifest = format!(
        "[package]\nname = 'edition-2021'\nedition = '2021'\n[lib]\npath = 'lib.rs'\n[workspace]\n\
         [dependencies]\nreattempt = {{ path = '{ours}' }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("lib.rs"), "").unwrap();
    let _ = fs::remove_file(folder.join("Cargo.lock"));
    let metadata = cargo(&folder, &["metadata", "--format-version=1"]);
    let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
    let needed = tree(&folder, &["--locked"]);
    let of =
        |package: &serde_json::Value, key: &str| package[key].as_str().unwrap_or("0.0").to_owned();
    let minor = |version: &str| version.split('.').nth(1).unwrap().parse::<u32>().unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let (mut own, mut newer) = (None, Vec::new());
    for package in packages.rev() {
        let named = format!("{} v{}", of(package, "name"), of(package, "version"));
        let rust = of(package, "rust_version");
        if of(package, "name") == "reattempt" {
            own = Some(minor(&rust));
        } else if needed.contains(&named) {
            newer.push((minor(&rust), named));
        }
    }
    newer.retain(|(rust, _)| *rust > own.unwrap());
    assert!(newer.is_empty(), "{newer:?}");
}

/// The manifest of a service, with the features that the workspace has locked.
const SERVICE: &str = r#"
[package]
name = "service-of-a-reader"
edition = "2024"

[lib]
path = "lib.rs"

[workspace]

[dependencies]
axum = { version = "0.8", default-features = false, features = ["http1", "json", "tokio"] }
reqwest = { version = "0.13", default-features = false, features = ["http2", "json"] }
sqlx = { version = "0.9", default-features = false, features = ["postgres", "runtime-tokio"] }
tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
"#;

#[test]
fn a_service_with_axum_reqwest_and_sqlx_gets_five_more_crates() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("service-of-a-reader");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("lib.rs"), "").unwrap();
    let ours = root().display();
    let ours =
        format!("reattempt = {{ path = '{ours}', features = ['reqwest-0_13', 'sqlx-0_9'] }}\n");
    let [without, with] = ["", &*ours].map(|ours| {
        fs::write(folder.join("Cargo.toml"), format!("{SERVICE}{ours}")).unwrap();
        // The versions are those of the workspace.
        fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
        tree(&folder, &[])
    });
    let more: Vec<_> = with.difference(&without).collect();
    let more: Vec<_> = more
        .iter()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    let of_this_repository = ["reattempt", "reattempt-macros", "reattempt-runtime"];
    assert_eq!(
        more,
        [&of_this_repository[..], &["scoped-tls-hkt", "strsim"]].concat()
    );
    let said = "A service with axum, reqwest and sqlx, without their default features, gets five more crates";
    assert!(read("README.md").contains(said), "{said}");
}

/// The features of another default member would be unified with those of the example.
#[test]
fn the_first_command_of_the_readme_compiles_only_what_its_package_needs() {
    let packages = |arguments: &[&str]| {
        let build = ["build", "--locked", "-Zunstable-options", "--unit-graph"];
        let graph = cargo(root(), &[&build, arguments].concat());
        let graph: serde_json::Value = serde_json::from_str(&graph).unwrap();
        let units = graph["units"].as_array().unwrap().iter();
        let ids = units.map(|unit| unit["pkg_id"].as_str().unwrap().to_owned());
        ids.collect::<BTreeSet<_>>()
    };
    let example = ["--example", "quickstart"];
    let typed = packages(&example);
    let alone = packages(&[&["--package", "reattempt"], &example[..]].concat());
    println!("{} crates", typed.len());
    assert_eq!(typed, alone);
}

/// README says so. `unsafe` is forbidden by a lint.
#[test]
fn the_runtime_starts_no_thread_and_no_task_and_does_no_io_of_its_own() {
    let mut read = 0;
    for (path, source) in files(&root().join("retry-runtime/src"), "rs") {
        let (code, _) = source
            .split_once("#[cfg(test)]\nmod ")
            .unwrap_or((&source, ""));
        if path.to_string_lossy().contains("tests") {
            continue;
        }
        read += 1;
        let code = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            for word in [
                "spawn(",
                "spawn_blocking(",
                "thread::Builder",
                "std::fs",
                "std::net::TcpStream",
                "tokio::net::TcpStream",
                "println!",
            ] {
                assert!(!line.contains(word), "{}: {line}", path.display());
            }
        }
    }
    assert!(read >= 100, "{read} files");
}
