//! Annotated functions of many shapes, under every lint: what the attribute generates is silent.
//!
//! `clippy` of the workspace compiles this with its warnings denied, and `tests/lints.rs` compares it
//! with the same functions without their attributes, under the lints that are allowed by default and
//! clippy's `restriction`.

#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]

pub mod arguments;
pub mod blocking;
pub mod bodies;
pub mod keys;
pub mod methods;
