//! The spans of a call: one for the call, and in it one for each attempt.
//!
//! The call has a span of its own, because the span around it may contain other calls too. The waits and the outcome
//! belong to the call, not to one of its attempts.

use std::fmt::Display;
use std::sync::Arc;

use tracing::callsite::{Callsite as _, DefaultCallsite, Identifier};
use tracing::field::{FieldSet, Value, ValueSet};
use tracing::metadata::Kind;
use tracing::{Level, Metadata, Span};

use super::Begun;
use super::asked::ask_about;
use crate::metrics::Attempted;
use crate::stopped::Outcome;

/// Whether any subscriber wants spans of this level. One load and one comparison.
#[inline]
pub(crate) fn spans_may_be_wanted() -> bool {
    tracing::level_enabled!(Level::DEBUG)
}

/// The spans of a call that is under way.
#[derive(Debug)]
pub(crate) struct Spans {
    call: Arc<Span>,
    attempt: Option<Arc<Span>>,
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
    pub(crate) fn end_attempt(self, how: Attempted, words: Option<&dyn Display>) -> Self {
        if let Some(attempt) = self.attempt {
            record(&attempt, "verdict", &how.as_str());
            if let (Some(words), false) = (words, attempt.is_disabled()) {
                record(&attempt, "error", &words.to_string());
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

/// The kinds of spans. The macros of `tracing` would name the file and the line of this code, which are of no use to
/// anybody: `tracing-opentelemetry` sends them on as those of the span. So the kinds name none, and the span of a call has those
/// of the function as fields.
macro_rules! kinds {
    ($($kind:ident $metadata:ident $name:literal $fields:expr;)*) => {$(
        static $kind: DefaultCallsite = DefaultCallsite::new(&$metadata);
        static $metadata: Metadata<'static> = Metadata::new(
            $name,
            "reattempt",
            Level::DEBUG,
            None,
            None,
            None,
            FieldSet::new(&$fields, Identifier(&$kind)),
            Kind::SPAN,
        );
    )*};
}

// `otel.name` is what OpenTelemetry calls the span. A name in `tracing` is a constant.
kinds! {
    CALL OF_CALL "call" [
        "function", "attempts", "otel.name", "code.file.path", "code.line.number", "outcome", "otel.status_code",
    ];
    ATTEMPT OF_ATTEMPT "attempt" [
        "function", "attempt", "attempts", "hedge", "verdict", "error", "otel.status_code",
        "http.request.resend_count",
    ];
}

/// The values of the first fields of a span, which it has from the beginning. They are signed numbers, because OpenTelemetry
/// turns other numbers into text.
type Values<'a> = [Option<&'a dyn Value>; 5];

/// Makes a span, unless the subscriber does not want it.
fn of_kind(
    kind: &'static DefaultCallsite,
    values: Values<'_>,
    make: impl FnOnce(&'static Metadata<'static>, &ValueSet<'_>) -> Span,
) -> Span {
    let metadata = kind.metadata();
    if kind.interest().is_never() || !ask_about(metadata) {
        return Span::none();
    }
    let mut fields = metadata.fields().iter();
    let fields = [(); 5].map(|()| fields.next().expect("a span has more fields"));
    let mut values = values.into_iter();
    let values = fields
        .each_ref()
        .map(|field| (field, values.next().flatten()));
    // Not in the docs of `tracing`, but `tracing-log` calls it too.
    make(metadata, &metadata.fields().value_set(&values))
}

fn of_call(begun: &Begun) -> Span {
    let attempts = begun.attempts.map(i64::from);
    let attempts = attempts.as_ref().map(|attempts| attempts as &dyn Value);
    let function = Some(&begun.function as &dyn Value);
    let (file, line) = (begun.place.file(), i64::from(begun.place.line()));
    let values = [
        function,
        attempts,
        function,
        Some(&file as _),
        Some(&line as _),
    ];
    of_kind(&CALL, values, Span::new)
}

fn of_attempt(call: &Span, begun: &Begun) -> Span {
    // A filter may leave out the call but not the attempt. The attempt is then in the span around the call.
    let parent = call.id().or_else(|| Span::current().id());
    let (attempt, attempts) = (i64::from(begun.attempt), begun.attempts.map(i64::from));
    let attempts = attempts.as_ref().map(|attempts| attempts as &dyn Value);
    let values = [
        Some(&begun.function as _),
        Some(&attempt as _),
        attempts,
        None,
        None,
    ];
    let span = of_kind(&ATTEMPT, values, |metadata, values| {
        Span::child_of(parent, metadata, values)
    });
    if begun.hedge {
        record(&span, "hedge", &true);
    }
    span
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
