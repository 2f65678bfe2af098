//! Annotated functions of many shapes, under every lint. The generated code has no warning.
//!
//! Clippy checks this package with warnings denied. `tests/checkout/lints.rs` compares it with the same functions without
//! their attributes, under the lints that are allowed by default and clippy's `restriction`.

#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(
    clippy::missing_errors_doc,
    reason = "`lints/warned.rs` has this lint, and `as_in_the_readme` is a function with such docs"
)]

pub mod arguments;
pub mod blocking;
pub mod bodies;
pub mod keys;
pub mod methods;
