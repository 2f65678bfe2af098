//! The attribute of the `reattempt` crate; its documentation stands on the facade's re-export.

#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]
#![allow(dead_code, reason = "the entry point is not there yet")]

mod errors;
mod keys;
mod lower;
mod model;
mod syntax;
