//! The attribute of the `reattempt` crate; its documentation stands on the facade's re-export.
