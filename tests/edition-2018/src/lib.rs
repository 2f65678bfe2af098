//! `tests/shapes/editions.rs`, compiled in another edition.
