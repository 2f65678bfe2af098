//! Compares the public API with a file.
//!
//! The facade re-exports items of the runtime, so there is a file for each: the names of the facade, and the items
//! themselves. `INSTA_UPDATE=always cargo test -p public -- --ignored` writes the files again.

mod names;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "it reads rustdoc's JSON, whose format changes with the compiler: `.ci/run` runs it"]
fn the_public_api_of_the_facade_is_the_one_in_the_file() {
    insta::assert_snapshot!(public_api("reattempt"));
}

#[test]
#[ignore = "it reads rustdoc's JSON, whose format changes with the compiler: `.ci/run` runs it"]
fn the_public_api_of_the_runtime_is_the_one_in_the_file() {
    let api = public_api("reattempt-runtime");
    insta::assert_snapshot!(api);
    let unnameable = unnameable(&api);
    assert!(unnameable.is_empty(), "{unnameable:#?}");
}

#[test]
fn no_message_about_a_run_or_a_layer_names_what_no_user_can_write() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/fail");
    let mut read = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.extension().is_some_and(|end| end == "stderr")
            && (name.starts_with("tower") || name == "run.stderr")
        {
            assert!(
                !fs::read_to_string(&path).unwrap().contains("__private"),
                "{name}"
            );
            read += 1;
        }
    }
    assert_eq!(read, 2, "that of runs, and that of layers");
}

/// The types and traits of the runtime in these items that are no items, so no user can write them. A hidden one has no path here.
fn unnameable(api: &str) -> BTreeSet<&str> {
    let items = api.lines().filter_map(|line| {
        // An attribute may stand before it.
        let (kind, path) = line.split_once("pub ")?.1.split_once(' ')?;
        let kinds = ["struct", "enum", "trait", "type", "const", "static"];
        kinds.contains(&kind).then(|| type_in(path))?
    });
    let items: BTreeSet<_> = items.collect();
    let with_path = api.split("reattempt_runtime::").skip(1);
    let with_path = with_path.filter_map(type_in);
    let generic = api.match_indices('<').filter_map(|(at, _)| {
        let name = api[..at].rsplit(|c| !is_in_path(c)).next()?;
        name.starts_with(char::is_uppercase).then_some(name)
    });
    let hidden = generic.filter(|name| !name.contains(':'));
    let used: BTreeSet<_> = with_path.chain(hidden).collect();
    // What seals a trait is not to be written.
    used.difference(&items)
        .filter(|name| **name != "Sealed")
        .copied()
        .collect()
}

/// The first type in a path.
fn type_in(text: &str) -> Option<&str> {
    let path = text.split(|c| !is_in_path(c)).next()?;
    let mut parts = path.trim_end_matches(':').split("::");
    parts.find(|part| part.starts_with(char::is_uppercase))
}

fn is_in_path(c: char) -> bool {
    c.is_alphanumeric() || "_:".contains(c)
}

/// `docs/LIBRARIES.md` promises it.
#[test]
#[ignore = "it reads rustdoc's JSON, whose format changes with the compiler: `.ci/run` runs it"]
fn the_public_api_of_a_library_can_leave_this_crate_out() {
    let api = public_api("weather");
    assert!(api.contains("weather::Client::forecast("), "{api}");
    for name in ["reattempt", "reattempt_runtime"] {
        assert!(!api.contains(name), "{api}");
    }
}

/// Every public item of a package with all its features, one on each line, without the blanket implementations.
fn public_api(package: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Cargo may build outside of the checkout.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let documented = Command::new(env!("CARGO"))
        .args([
            "rustdoc",
            "--quiet",
            "--lib",
            "--all-features",
            "--locked",
            "-p",
            package,
        ])
        .args(["--", "-Zunstable-options", "--output-format=json"])
        // Only the JSON is unstable, not the rest of the build.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", target)
        .current_dir(&root)
        .status()
        .expect("cargo runs");
    assert!(documented.success(), "rustdoc failed for `{package}`");
    let name = package.replace('-', "_");
    let json = target.join(format!("doc/{name}.json"));
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build();
    api.expect("rustdoc's JSON in the format that the crate `public-api` reads")
        .to_string()
}
