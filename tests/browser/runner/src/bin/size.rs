//! Prints the table of `docs/PERFORMANCE.md`: what retries add to an optimised wasm file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use wasm_bindgen_cli_support::Bindgen;

/// The rows, each with its features of `size`.
const ROWS: [(&str, &str); 3] = [
    ("backon, which has no limits", "backon"),
    ("`#[retry]`, no limits", "retry"),
    ("`#[retry]`, limits", "limits"),
];

fn main() -> anyhow::Result<()> {
    let plain = size("")?;
    println!("| one function and what it needs | kB more than without retries |\n|---|---:|");
    for (row, features) in ROWS {
        let more = size(features)?.saturating_sub(plain);
        println!("| {row} | {} |", (more + 500) / 1000);
    }
    Ok(())
}

/// The bytes of the file that a browser loads.
fn size(features: &str) -> anyhow::Result<u64> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(here.join("target"), PathBuf::from);
    let built = Command::new("cargo")
        .args(["build", "--quiet", "--locked", "--release", "-p", "size"])
        .args(["--target", "wasm32-unknown-unknown", "--features", features])
        .current_dir(&here)
        .status()?;
    ensure!(
        built.success(),
        "`size` does not build with the features {features:?}"
    );
    let wasm = target.join("wasm32-unknown-unknown/release/size.wasm");
    let folder = target.join("size");
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true);
    bindgen.generate(&folder)?;
    let loaded = fs::metadata(folder.join("size_bg.wasm")).context("no wasm file was made")?;
    Ok(loaded.len())
}
