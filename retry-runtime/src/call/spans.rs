//! Opens, enters, leaves and closes the spans of a call.
//!
//! The spans are in the cold part of the frame, so they do not make futures larger. No lock is held while a subscriber
//! is called, because the subscriber may call annotated functions itself.
//!
//! Each poll of an attempt enters its span. The span is left when the body is pending, or when the call settles, which
//! happens in the same poll. To check after each poll would cost a call that is ready at once 20 instructions. A panic
//! in between drops the call, which leaves the span.

use std::fmt::Display;

use super::State;
use crate::context::Cold;
use crate::metrics::Attempted;
use crate::stopped::Outcome;
use crate::trace::{Begun, Entered, Spans, spans_may_be_wanted};

impl State<'_> {
    /// Enters the span of the attempt for one poll. `begins` says that this is the first poll, which opens the span if
    /// a subscriber wants it.
    #[inline]
    pub(super) fn enter_attempt(&self, begins: bool) {
        if spans_may_be_wanted() {
            self.enter_attempt_span(begins);
        }
    }

    #[cold]
    fn enter_attempt_span(&self, begins: bool) {
        let frame = &self.frame;
        if begins {
            let begun = Begun {
                function: self.settings.name,
                place: self.settings.shared.place,
                attempt: frame.number.get(),
                attempts: frame.attempts_allowed(),
                hedge: frame.is_hedge(),
            };
            if let Some(spans) = Spans::begin(self.take_spans(), &begun) {
                // A call with a cold part does not end inline. Nothing closes spans there.
                frame.cold().noted().spans = Some(spans);
            }
        }
        if let Some(cold) = frame.if_cold() {
            let span = cold.noted().spans.as_ref().and_then(Spans::attempt);
            cold.noted().entered = span.map(Entered::new);
        }
    }

    /// Leaves the span of an attempt that is pending.
    pub(super) fn leave_attempt(&self) {
        if let Some(cold) = self.frame.if_cold() {
            let entered = cold.noted().entered.take();
            drop(entered);
        }
    }

    /// Closes the span of an attempt that ended, with its error in words if it failed.
    pub(super) fn end_attempt_span(&self, how: Attempted, words: Option<&dyn Display>) {
        if let Some(spans) = self.take_spans() {
            let spans = spans.end_attempt(how, words);
            self.frame.cold().noted().spans = Some(spans);
        }
    }

    /// Closes the spans of a call that ended.
    pub(super) fn end_spans(&self, outcome: Outcome) {
        if let Some(spans) = self.take_spans() {
            spans.end(outcome);
        }
    }

    /// Enters the span of the call, for events and code that belong to no attempt.
    #[inline]
    pub(super) fn enter_call(&self) -> Option<Entered> {
        let span = (self.frame.if_cold()?.noted().spans.as_ref()).map(Spans::call);
        span.map(Entered::new)
    }

    #[inline]
    fn take_spans(&self) -> Option<Spans> {
        self.frame.if_cold().and_then(|cold| take_spans_of(cold))
    }
}

/// Takes the spans out, so that no lock is held while the subscriber is called. Leaves the span of the attempt if this thread
/// is in it.
#[cold]
fn take_spans_of(cold: &Cold) -> Option<Spans> {
    let mut noted = cold.noted();
    let (entered, spans) = (noted.entered.take(), noted.spans.take());
    drop(noted);
    drop(entered);
    spans
}
