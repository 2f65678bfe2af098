//! Crates that this one does not know.

/// Compiles the page on seeing, which shows metrics of other crates.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/seeing.md")]
struct Seeing;
