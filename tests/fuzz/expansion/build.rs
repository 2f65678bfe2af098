//! Builds the macro as a library. `cfg(proc_macro)` cannot distinguish the two: only rustc sets that one, and an
//! editor would see no macro.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cfg=as_library");
}
