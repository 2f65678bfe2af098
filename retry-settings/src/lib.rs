//! The words and rules of settings, for the attribute and for configuration.
//!
//! This crate is a part of `reattempt`, which does not re-export it. Its items are not meant for other crates, and may
//! change with each version. The attribute is in `retry-macros`, and configuration in `retry-runtime`. Both read
//! settings with this crate, so that they accept the same text and find the same faults. Each shows a fault in its own
//! form.

pub mod duration;
pub mod keys;
pub mod rules;
pub mod text;
