//! Builds the macro as a library. It is not `cfg(proc_macro)` that tells the two apart: only rustc sets that one, and an
//! editor would see no macro.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cfg=as_library");
}
