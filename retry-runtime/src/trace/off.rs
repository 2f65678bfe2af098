//! Stands for the events and the spans without the feature `tracing`: no call is logged.

#![expect(clippy::unused_self, reason = "the methods of the real spans")]

use std::fmt::Display;

use super::{CallInTrace, Event};
use crate::metrics::Attempted;
use crate::report::Which;
use crate::stopped::Outcome;

#[derive(Debug)]
pub(crate) struct Lines;

impl Lines {
    pub(crate) const fn new() -> Self {
        Self
    }
}

#[inline]
pub(crate) const fn subscriber_wants() -> bool {
    false
}

#[inline]
pub(crate) const fn may_be_heard() -> bool {
    false
}

#[inline]
pub(crate) const fn spans_may_be_wanted() -> bool {
    false
}

pub(crate) fn write(_: Event<'_>, _: &CallInTrace<'_>) {}

#[cfg(feature = "tower")]
pub(crate) fn ignored_header(_: &str, _: &[u8], _: &str) {}

/// A span, of which there is none.
#[derive(Debug)]
pub(crate) enum NoSpan {}

#[derive(Debug, Clone, Default)]
pub(crate) struct Spans {}

impl Spans {
    pub(crate) fn begin(&mut self, _: &CallInTrace<'_>) {}

    pub(crate) fn are_open(&self) -> bool {
        false
    }

    pub(crate) fn end_attempt(&mut self, _: Which, _: Attempted, _: Option<&dyn Display>) {}

    pub(crate) fn end(&mut self, _: Outcome) {}

    pub(crate) fn call(&self) -> Option<NoSpan> {
        None
    }

    pub(crate) fn attempt(&self, _: Which) -> Option<NoSpan> {
        None
    }

    #[cfg(feature = "http")]
    pub(crate) fn record_resends(&self, _: Which, _: u32) {}
}

#[derive(Debug)]
pub(crate) struct Entered(NoSpan);

impl Entered {
    pub(crate) fn new(span: NoSpan) -> Self {
        Self(span)
    }
}
