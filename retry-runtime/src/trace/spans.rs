//! The spans of a call: one for the call, and in it one for each attempt.
//!
//! The call has a span of its own, because the span around it may contain other calls too. The waits and the outcome
//! belong to the call, not to one of its attempts.

use std::fmt::Display;
use std::panic::Location;
use std::sync::Arc;

use tracing::callsite::{Callsite as _, DefaultCallsite, Identifier};
use tracing::field::{Empty, FieldSet, Value, ValueSet};
use tracing::metadata::Kind;
use tracing::{Level, Metadata, Span, dispatcher};

use crate::metrics::Attempted;
use crate::report::Which;
use crate::stopped::Outcome;

/// What the spans of a call and of an attempt say when they begin.
pub(crate) struct Begun {
    pub(crate) function: &'static str,
    /// Where the function is in the user's source.
    pub(crate) place: &'static Location<'static>,
    pub(crate) attempt: u32,
    pub(crate) attempts: Option<u32>,
    pub(crate) which: Which,
}

/// The spans of a call that is under way, and of its attempts: the first or a later one, and the hedge.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    pub(crate) call: Option<Arc<Span>>,
    attempts: [Option<Arc<Span>>; 2],
    /// The one that is entered, while an attempt or `before_retry` is polled.
    pub(crate) entered: Option<Entered>,
}

impl Spans {
    /// Opens the span of an attempt. For the first attempt, also opens the span of the call. Returns whether a subscriber wants one of
    /// them.
    pub(crate) fn begin(&mut self, begun: &Begun) -> bool {
        let call = self.call.get_or_insert_with(|| Arc::new(of_call(begun)));
        let attempt = of_attempt(call, begun);
        let wanted = !call.is_disabled() || !attempt.is_disabled();
        self.attempts[begun.which as usize] = wanted.then(|| Arc::new(attempt));
        wanted
    }

    /// Leaves the span of an attempt, and closes it.
    pub(crate) fn end_attempt(
        &mut self,
        which: Which,
        how: Attempted,
        words: Option<&dyn Display>,
    ) {
        self.entered = None;
        if let Some(attempt) = self.attempts[which as usize].take() {
            record(&attempt, "verdict", &how.as_str());
            let words = words.filter(|_| how != Attempted::NotReady);
            if let (Some(words), false) = (words, attempt.is_disabled()) {
                record(&attempt, "error", &words.to_string());
                record(&attempt, "otel.status_code", &"ERROR");
            }
        }
    }

    /// Closes the span of a call that ended.
    pub(crate) fn end(&mut self, outcome: Outcome) {
        let Some(call) = self.call.take() else { return };
        record(&call, "outcome", &outcome.as_str());
        if !matches!(
            outcome,
            Outcome::Success | Outcome::SuccessAfterRetry | Outcome::Dropped
        ) {
            record(&call, "otel.status_code", &"ERROR");
        }
    }

    /// The span of an attempt, while it is under way.
    pub(crate) fn attempt(&self, which: Which) -> Option<Arc<Span>> {
        self.attempts[which as usize].clone()
    }
}

/// Records the value of a field. It takes a reference, because the lowest supported version of `tracing` does.
pub(crate) fn record(span: &Span, field: &'static str, value: &impl Value) {
    span.record(field, value);
}

/// The kinds of spans. The macros of `tracing` would name the file and the line of this code, which
/// `tracing-opentelemetry` sends on as those of the span. So the kinds name none, and the span of a call has those of the
/// function as fields.
macro_rules! kinds {
    ($($kind:ident $metadata:ident $name:literal $fields:expr;)*) => {$(
        static $kind: DefaultCallsite = DefaultCallsite::new(&$metadata);
        static $metadata: Metadata<'static> = Metadata::new(
            $name,
            "reattempt",
            // A console at level debug shows the events, and does not put two spans before each line of the body.
            Level::TRACE,
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
type Values<'a> = [&'a dyn Value; 5];

/// Makes a span, unless the subscriber does not want it.
fn of_kind(
    kind: &'static DefaultCallsite,
    values: Values<'_>,
    make: impl FnOnce(&'static Metadata<'static>, &ValueSet<'_>) -> Span,
) -> Span {
    let metadata = kind.metadata();
    let asked = |dispatch: &tracing::Dispatch| dispatch.enabled(metadata);
    if kind.interest().is_never() || !dispatcher::get_default(asked) {
        return Span::none();
    }
    let mut fields = metadata.fields().iter();
    let fields = [(); 5].map(|()| fields.next().expect("a span has more fields"));
    let mut values = values.into_iter();
    let values = fields.each_ref().map(|field| (field, values.next()));
    // Not in the docs of `tracing`, but `tracing-log` calls it too. `.ci/floors` tries the newest version.
    make(metadata, &metadata.fields().value_set(&values))
}

fn of_call(begun: &Begun) -> Span {
    let (function, attempts) = (&begun.function, begun.attempts.map(i64::from));
    let (file, line) = (begun.place.file(), i64::from(begun.place.line()));
    let values: Values<'_> = [function, &attempts, function, &file, &line];
    of_kind(&CALL, values, Span::new)
}

fn of_attempt(call: &Span, begun: &Begun) -> Span {
    // A filter may leave out the call but not the attempt. The attempt is then in the span around the call.
    let parent = call.id().or_else(|| Span::current().id());
    let (attempt, attempts) = (i64::from(begun.attempt), begun.attempts.map(i64::from));
    let hedge = (begun.which == Which::Hedge).then_some(true);
    let values: Values<'_> = [&begun.function, &attempt, &attempts, &hedge, &Empty];
    of_kind(&ATTEMPT, values, |metadata, values| {
        Span::child_of(parent, metadata, values)
    })
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
