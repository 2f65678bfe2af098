//! Stands for the events and the spans without the feature `tracing`: nobody hears of a call.

use std::fmt::Display;

use super::{Begun, CallInEvent, Event};
use crate::metrics::Attempted;
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

pub(crate) fn write(_: Event<'_>, _: &CallInEvent<'_>) {}

#[cfg(feature = "tower")]
pub(crate) fn ignored_header(_: &str, _: &[u8], _: &str) {}

/// A span, of which there is none.
#[derive(Debug)]
pub(crate) enum NoSpan {}

impl Drop for NoSpan {
    fn drop(&mut self) {
        match *self {}
    }
}

#[derive(Debug)]
pub(crate) struct Spans(NoSpan);

impl Spans {
    pub(crate) fn begin(_: Option<Self>, _: &Begun) -> Option<Self> {
        None
    }

    pub(crate) fn end_attempt(self, _: Attempted, _: Option<&dyn Display>) -> Self {
        self
    }

    pub(crate) fn end(self, _: Outcome) {
        match self.0 {}
    }

    pub(crate) fn call(&self) -> NoSpan {
        match self.0 {}
    }

    pub(crate) fn attempt(&self) -> Option<NoSpan> {
        match self.0 {}
    }

    #[cfg(feature = "http")]
    pub(crate) fn record_resends(_: &NoSpan, _: u32) {}
}

#[derive(Debug)]
pub(crate) struct Entered(NoSpan);

impl Entered {
    pub(crate) fn new(span: NoSpan) -> Self {
        Self(span)
    }
}

#[derive(Debug, Default)]
pub(crate) struct SpanBeside(Option<NoSpan>);

impl SpanBeside {
    pub(crate) fn replace(self, _: Option<&mut Spans>) -> Self {
        Self(self.0)
    }
}
