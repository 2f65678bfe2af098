//! Another name of the crate, another version of it, and another limit of rustc.

// Rustc's limit of layers, for `layers.rs`.
#![recursion_limit = "256"]

// As a dependency is that has another name in `Cargo.toml`.
extern crate reattempt as again;

mod layers;
mod renamed;
mod two_versions;
