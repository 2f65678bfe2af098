//! The machine and the versions with which the figures were measured.

use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

use crate::Side;

/// A line in Markdown for the machine, and one for the versions of the other crates.
pub(crate) fn description() -> String {
    let cores = available_parallelism().map_or(0, usize::from);
    let rust = version("rustc").unwrap_or_default();
    let valgrind = version("valgrind").unwrap_or_else(|| "no valgrind".to_owned());
    let lock = fs::read_to_string(crate::program::root().join("Cargo.lock")).expect("Cargo.lock");
    let crates = [&["tokio"], &Side::PEERS.map(Side::key)[..]].concat();
    let crates: Vec<_> = crates
        .into_iter()
        .filter_map(|name| Some(format!("{name} {}", locked(&lock, name)?)))
        .collect();
    format!(
        "- {cores} cores; {rust}; {valgrind}\n- {}\n",
        crates.join(", ")
    )
}

/// The version that a program prints, without the text in brackets.
fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.split(" (").next()?.trim().to_owned())
}

/// The version of a crate in a lock file.
fn locked<'l>(lock: &'l str, name: &str) -> Option<&'l str> {
    let (_, after) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    after.split('"').next()
}
