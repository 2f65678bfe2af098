//! The attribute adds no warning to the function, and hides no warning.
//!
//! The test compiles two sets of functions twice under every lint: as they are, and without their
//! `#[reattempt::retry(…)]`. Those of `tests/variants/silent` have no clippy warning, and those of `lints/warned.rs` have
//! many. The diagnostics have to be the same: the lint, its characters and its words.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

/// Lints that rustc allows by default, and all lints of clippy. The others are on by default.
const LINTS: &[&str] = &[
    "clippy::all",
    "clippy::pedantic",
    "clippy::nursery",
    "clippy::restriction",
    "future-incompatible",
    "keyword-idents",
    "let-underscore",
    "nonstandard-style",
    "refining-impl-trait",
    "rust-2018-idioms",
    "rust-2021-compatibility",
    "unused",
    "absolute-paths-not-starting-with-crate",
    "ambiguous-negative-literals",
    "closure-returning-async-block",
    "elided-lifetimes-in-paths",
    "explicit-outlives-requirements",
    "let-underscore-drop",
    "macro-use-extern-crate",
    "meta-variable-misuse",
    "missing-abi",
    "missing-copy-implementations",
    "missing-debug-implementations",
    "missing-docs",
    "missing-unsafe-on-extern",
    "non-ascii-idents",
    "redundant-imports",
    "redundant-lifetimes",
    "single-use-lifetimes",
    "trivial-casts",
    "trivial-numeric-casts",
    "unit-bindings",
    "unnameable-types",
    "unreachable-pub",
    "unsafe-code",
    "unused-import-braces",
    "unused-lifetimes",
    "unused-macro-rules",
    "unused-qualifications",
    "unused-results",
    "variant-size-differences",
];

const MANIFEST: &str = r#"
[package]
name = "lints-of-both"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
async-trait = "0.1"
reattempt = { path = "ROOT" }
tokio = { version = "1", features = ["macros", "rt", "sync", "time"] }
tracing = { version = "0.1", default-features = false, features = ["std", "attributes"] }

[lib]
path = "lib.rs"

[[example]]
name = "plain"
path = "plain/lib.rs"
crate-type = ["lib"]

[[example]]
name = "annotated"
path = "annotated/lib.rs"
crate-type = ["lib"]
"#;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Diagnostic {
    file: String,
    line: u64,
    columns: (u64, u64),
    lint: String,
    message: String,
    /// Whether it is between the parentheses of an attribute.
    in_attribute: bool,
}

#[test]
#[ignore = "it runs clippy on a package of its own: `cargo test --test checkout -- --ignored`, as `.ci/run` does"]
fn the_annotated_function_has_the_warnings_of_the_plain_one_and_no_others() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let warned = tests.join("checkout/lints/warned.rs");
    let silent = ["arguments", "blocking", "bodies", "keys", "methods"];
    let mut files = vec![warned.clone()];
    files.extend(silent.map(|name| tests.join(format!("variants/silent/{name}.rs"))));
    let package = package(&files);
    let (plain, annotated) = lint(&package);
    let (mut lost, mut added) = (
        difference(&plain, &annotated),
        difference(&annotated, &plain),
    );
    // What the body shadows itself has another lint of these, or none, because clippy does not see what a name outside of the
    // block of an attempt is. Generated bindings have none.
    let shadows = |found: &Diagnostic| {
        let place = (found.file.clone(), found.line, found.columns);
        found.lint.starts_with("clippy::shadow_").then_some(place)
    };
    let own: Vec<_> = plain.iter().filter_map(shadows).collect();
    lost.retain(|found| shadows(found).is_none());
    added.retain(|found| shadows(found).is_none_or(|place| !own.contains(&place)));

    let source = fs::read_to_string(&warned).unwrap();
    let inherent = marked(&source, "// lost: ");
    let (inherent, lost): (Vec<_>, Vec<_>) = lost.into_iter().partition(|found| {
        let known = |(lines, lint): &(Range<u64>, String)| {
            found.file == "warned.rs" && lines.contains(&found.line) && found.lint == *lint
        };
        inherent.iter().any(known)
    });
    // The file names each lost warning, with the reason.
    assert_eq!(
        inherent.len(),
        source.matches("// lost: ").count(),
        "{inherent:#?}"
    );
    assert!(lost.is_empty(), "hidden by the attribute: {lost:#?}");
    assert!(added.is_empty(), "added by the attribute: {added:#?}");

    let warns = marked(&source, "// warns: ");
    assert!(warns.len() > 25, "{}", warns.len());
    let idle: Vec<_> = warns
        .into_iter()
        .filter(|(lines, lint)| {
            !annotated.iter().any(|found| {
                found.file == "warned.rs" && lines.contains(&found.line) && found.lint == *lint
            })
        })
        .collect();
    assert!(idle.is_empty(), "does not fire: {idle:?}");
}

/// The lines from each mark to the next blank line, and the text of the mark.
fn marked(source: &str, mark: &str) -> Vec<(Range<u64>, String)> {
    let mut found: Vec<(Range<u64>, String)> = Vec::new();
    let mut open = false;
    for (line, text) in (1..).zip(source.lines()) {
        if let Some(lint) = text.trim().strip_prefix(mark) {
            found.push((line..line + 1, lint.to_owned()));
            open = true;
        }
        open &= !text.is_empty();
        if let (true, Some((lines, _))) = (open, found.last_mut()) {
            lines.end = line + 1;
        }
    }
    found
}

/// The diagnostics of `one` that `other` does not have.
fn difference(one: &[Diagnostic], other: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut left = other.to_vec();
    let mut only = Vec::new();
    for found in one {
        match left.iter().position(|same| same == found) {
            Some(at) => drop(left.swap_remove(at)),
            None if is_ours_to_differ(found) => {}
            None => only.push(found.clone()),
        }
    }
    only
}

/// Whether a diagnostic is about code that only one of the versions has.
fn is_ours_to_differ(found: &Diagnostic) -> bool {
    // The user wrote the code between the parentheses of the attribute. A diagnostic about the whole
    // attribute is about generated code.
    // The last expression of a function that returns a future is generated, which this lint does not want.
    let tail = found.file == "methods.rs" && found.lint == "clippy::implicit_return";
    found.in_attribute || tail
}

/// Writes a package with both versions of the files, and returns its folder.
fn package(files: &[PathBuf]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lints-of-both");
    let mut library = String::new();
    for folder in ["plain", "annotated"] {
        fs::create_dir_all(package.join(folder)).unwrap();
    }
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let source = fs::read_to_string(file).unwrap();
        library.extend(["pub mod ", name, ";\n"]);
        for (folder, source) in [
            ("plain", without_attributes(&source)),
            ("annotated", source),
        ] {
            fs::write(package.join(folder).join(format!("{name}.rs")), source).unwrap();
        }
    }
    for folder in ["plain", "annotated"] {
        fs::write(package.join(folder).join("lib.rs"), &library).unwrap();
    }
    fs::write(package.join("lib.rs"), "").unwrap();
    let manifest = MANIFEST.replace("ROOT", &root.display().to_string().replace('\\', "/"));
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    package
}

/// Replaces each `#[reattempt::retry…]` with a `#[cfg(true)]` of the same size, so that lines and columns stay.
fn without_attributes(source: &str) -> String {
    let mut plain = String::new();
    let mut rest = source;
    while let Some(start) = rest.find("#[reattempt::retry") {
        let (before, attribute) = rest.split_at(start);
        let end = end_of_attribute(attribute);
        plain.push_str(before);
        plain.push_str(&nothing(&attribute[..end]));
        rest = &attribute[end..];
    }
    plain.push_str(rest);
    plain
}

/// An attribute with the same length and lines that has no effect.
fn nothing(attribute: &str) -> String {
    let (start, end) = ("#[cfg(true", ")]");
    let within = attribute.len() - start.len() - end.len();
    let blanks = attribute[start.len()..][..within].chars();
    let blanks: String = blanks
        .map(|char| if char == '\n' { '\n' } else { ' ' })
        .collect();
    format!("{start}{blanks}{end}")
}

fn end_of_attribute(attribute: &str) -> usize {
    let (mut depth, mut quoted) = (0, false);
    for (at, char) in attribute.char_indices() {
        match char {
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    panic!("an attribute without an end: {attribute}");
}

/// Runs clippy on the plain and the annotated version.
fn lint(package: &Path) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    command
        .args([
            "clippy",
            "--quiet",
            "--examples",
            "--message-format=json",
            "--",
        ])
        .args(LINTS.iter().flat_map(|lint| ["-W", lint]))
        .current_dir(package)
        .env("CARGO_TARGET_DIR", package.join("target"))
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let messages: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stderr),
        messages
            .iter()
            .filter_map(|message| message["message"]["rendered"].as_str())
            .collect::<String>()
    );
    let of = |target: &str| {
        let mut found: Vec<_> = messages
            .iter()
            .filter(|message| message["target"]["name"] == target)
            .filter_map(|message| diagnostic(&message["message"]))
            .collect();
        found.sort();
        found
    };
    (of("plain"), of("annotated"))
}

fn diagnostic(message: &Value) -> Option<Diagnostic> {
    let lint = message["code"]["code"].as_str()?.to_owned();
    let spans = message["spans"].as_array()?;
    let mut span = spans.iter().find(|span| span["is_primary"] == true)?;
    // The code in a macro of the standard library was written where the macro is called.
    while span["file_name"].as_str()?.ends_with("macros.rs") {
        span = &span["expansion"]["span"];
    }
    let text = span["text"][0]["text"].as_str()?;
    let column = span["column_start"].as_u64()?;
    let before = text.chars().take(usize::try_from(column).ok()? - 1);
    let before: String = before.collect();
    Some(Diagnostic {
        file: span["file_name"].as_str()?.rsplit('/').next()?.to_owned(),
        line: span["line_start"].as_u64()?,
        columns: (column, span["column_end"].as_u64()?),
        lint,
        message: message["message"].as_str()?.to_owned(),
        in_attribute: before.trim().starts_with("#[reattempt::retry("),
    })
}
