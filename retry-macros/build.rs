//! Tells the macro what the compiler can do.

use std::env;
use std::process::Command;

/// From this minor version on, a constant may refer to a `static` that changes.
const REFERS_TO_STATICS: u32 = 90;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(as_library, constants_refer_to_statics)");
    // The package `expansion` of the fuzzer builds the same code as a library. It is not `cfg(proc_macro)` that tells the
    // two apart: only rustc sets that one, and an editor would see no macro.
    if env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == "expansion") {
        println!("cargo:rustc-cfg=as_library");
    }
    if minor_version().is_some_and(|minor| minor >= REFERS_TO_STATICS) {
        println!("cargo:rustc-cfg=constants_refer_to_statics");
    }
}

/// The 90 in `rustc 1.90.0 (1159e78c4 2025-09-14)`.
fn minor_version() -> Option<u32> {
    let output = Command::new(env::var_os("RUSTC")?)
        .arg("--version")
        .output()
        .ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    version.split('.').nth(1)?.parse().ok()
}
