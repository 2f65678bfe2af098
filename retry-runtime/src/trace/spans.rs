//! The spans of a call: one for the call, and in it one for each attempt.
//!
//! The call has a span of its own, because the span around it may contain other calls too. The waits and the outcome
//! belong to the call, not to one of its attempts.

use std::sync::Arc;

use tracing::field::{Empty, Value};
use tracing::{Span, debug_span};

use super::Words;
use super::asked::SpanQuestion;
use crate::metrics::Attempted;
use crate::stopped::Outcome;

/// Whether any subscriber wants spans of this level. One load and one comparison.
#[inline]
pub(crate) fn may_be_wanted() -> bool {
    tracing::level_enabled!(tracing::Level::DEBUG)
}

/// The spans of a call that is under way.
#[derive(Debug)]
pub(crate) struct Spans {
    call: Arc<Span>,
    attempt: Option<Arc<Span>>,
}

/// The fields of a span when it opens. They are signed numbers, because OpenTelemetry turns other numbers into text.
pub(crate) struct Begun {
    pub(crate) function: &'static str,
    pub(crate) attempt: u32,
    pub(crate) attempts: Option<u32>,
    pub(crate) hedge: bool,
}

/// The span of the attempt that runs beside the present one. If it is dropped, its attempt was lost.
#[derive(Debug, Default)]
pub(crate) struct SpanBeside(Option<Arc<Span>>);

impl SpanBeside {
    /// Puts the span into `spans`, and returns the one that was there.
    pub(crate) fn replace(mut self, spans: Option<&mut Spans>) -> Self {
        let own = self.0.take();
        Self(spans.and_then(|spans| std::mem::replace(&mut spans.attempt, own)))
    }
}

impl Drop for SpanBeside {
    fn drop(&mut self) {
        if let Some(span) = self.0.take() {
            record(&span, "verdict", &Attempted::Unfinished.as_str());
        }
    }
}

impl Spans {
    /// Opens the span of an attempt. For the first attempt, also opens the span of the call. Returns `None` if no
    /// subscriber wants them.
    pub(crate) fn begin(earlier: Option<Self>, begun: &Begun) -> Option<Self> {
        let call = earlier.map_or_else(|| Arc::new(of_call(begun)), |spans| spans.call);
        let attempt = of_attempt(&call, begun);
        if call.is_disabled() && attempt.is_disabled() {
            return None;
        }
        Some(Self {
            call,
            attempt: Some(Arc::new(attempt)),
        })
    }

    /// Closes the span of the attempt.
    pub(crate) fn end_attempt(self, how: Attempted, words: Option<&dyn Words>) -> Self {
        if let Some(attempt) = self.attempt {
            record(&attempt, "verdict", &how.as_str());
            if let (Some(words), false) = (words, attempt.is_disabled()) {
                record(&attempt, "error", &words.text());
                record(&attempt, "otel.status_code", &"ERROR");
            }
        }
        Self {
            call: self.call,
            attempt: None,
        }
    }

    /// Closes the spans of a call that ended. An attempt that has not ended was dropped with the call.
    pub(crate) fn end(self, outcome: Outcome) {
        let Self { call, .. } = self.end_attempt(Attempted::Unfinished, None);
        record(&call, "outcome", &outcome.as_str());
        if !matches!(
            outcome,
            Outcome::Success | Outcome::SuccessAfterRetry | Outcome::Dropped
        ) {
            record(&call, "otel.status_code", &"ERROR");
        }
    }

    /// The span of the call.
    pub(crate) fn call(&self) -> Arc<Span> {
        Arc::clone(&self.call)
    }

    /// The span of the attempt, while it is under way.
    pub(crate) fn attempt(&self) -> Option<Arc<Span>> {
        self.attempt.clone()
    }

    /// Records in the span of an attempt how many times its request was sent before.
    #[cfg(feature = "http")]
    pub(crate) fn record_resends(attempt: &Span, resends: u32) {
        record(attempt, "http.request.resend_count", &i64::from(resends));
    }
}

/// Records the value of a field. It takes a reference, because the lowest supported version of `tracing` does.
fn record(span: &Span, field: &'static str, value: &impl Value) {
    span.record(field, value);
}

fn of_call(begun: &Begun) -> Span {
    static QUESTION: SpanQuestion = SpanQuestion::new();
    QUESTION.of(debug_span!(
        target: "reattempt",
        "call",
        function = {
            QUESTION.ask();
            begun.function
        },
        attempts = begun.attempts.map(i64::from),
        outcome = Empty,
        // What OpenTelemetry calls the span. A name in `tracing` is a constant.
        otel.name = begun.function,
        otel.status_code = Empty,
    ))
}

fn of_attempt(call: &Span, begun: &Begun) -> Span {
    // A filter may leave out the call but not the attempt. The attempt is then in the span around the call.
    static QUESTION: SpanQuestion = SpanQuestion::new();
    let parent = call.id().or_else(|| Span::current().id());
    QUESTION.of(debug_span!(
        target: "reattempt",
        parent: parent,
        "attempt",
        function = {
            QUESTION.ask();
            begun.function
        },
        attempt = i64::from(begun.attempt),
        attempts = begun.attempts.map(i64::from),
        hedge = begun.hedge.then_some(true),
        verdict = Empty,
        error = Empty,
        otel.status_code = Empty,
        http.request.resend_count = Empty,
    ))
}

/// A span that is entered until this value is dropped, for at most one poll.
#[derive(Debug)]
#[must_use = "the span is left when this is dropped"]
pub(crate) struct Entered(Arc<Span>);

impl Entered {
    pub(crate) fn new(span: Arc<Span>) -> Self {
        span.with_subscriber(|(id, subscriber)| subscriber.enter(id));
        Self(span)
    }
}

impl Drop for Entered {
    #[cold]
    fn drop(&mut self) {
        let Self(span) = self;
        span.with_subscriber(|(id, subscriber)| subscriber.exit(id));
    }
}
