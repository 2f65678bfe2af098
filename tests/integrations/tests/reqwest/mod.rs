//! Both versions of `reqwest`, in the same scenarios.

mod v0_12;
mod v0_13;
