//! Stands for `recorded.rs` without the feature `metrics`: there is no recorder.

use std::time::Duration;

use super::Attempted;
use crate::report::Report;

#[inline]
pub(crate) const fn is_recording() -> bool {
    false
}

pub(crate) fn attempted(_: &'static str, _: Attempted) {}

pub(crate) fn delayed(_: &'static str, _: Duration) {}

pub(crate) fn ended(_: &Report) {}
