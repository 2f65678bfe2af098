//! The faults, as `cargo mutants` lists them.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

/// A small change to one place of the source, which some test should notice.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Mutant {
    /// The file, line, column and change in words.
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) genre: Genre,
    pub(crate) span: Span,
    /// The text in place of the span's. Empty if the span is deleted.
    pub(crate) replacement: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(crate) enum Genre {
    /// A function returns a fixed value.
    FnValue,
    BinaryOperator,
    /// `!` or `-` is left out.
    UnaryOperator,
    /// An arm is left out.
    MatchArm,
    MatchArmGuard,
    /// A field is left out before `..`.
    StructField,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Span {
    pub(crate) start: Place,
    pub(crate) end: Place,
}

/// Line and column, in characters, both from 1.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Place {
    /// The byte of `text` at which it is.
    pub(crate) fn offset(self, text: &str) -> usize {
        let lines = text.split_inclusive('\n');
        let before: usize = lines.clone().take(self.line - 1).map(str::len).sum();
        let line = lines.clone().nth(self.line - 1).unwrap_or_default();
        let within = line.char_indices().nth(self.column - 1);
        before + within.map_or(line.len(), |(at, _)| at)
    }
}

/// All mutants of a package, less those that `.cargo/mutants.toml` excludes.
pub(crate) fn of(root: &Path, package: &str, files: &[String]) -> Result<Vec<Mutant>> {
    let mut command = Command::new("cargo");
    command
        .current_dir(root)
        .args(["mutants", "--list", "--json", "--package", package]);
    for file in files {
        command.args(["--file", file]);
    }
    let output = command
        .output()
        .context("cargo install --locked cargo-mutants")?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}
