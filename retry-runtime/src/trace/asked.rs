//! Asks the subscriber about an event or a span right before it gets it.
//!
//! Layers of `tracing-subscriber` that have filters of their own keep their last answers in the thread. If all layers
//! want all of our lines, `tracing` never asks about them, and the layers go by the answers that they gave before. If that
//! question was about a line of another crate which then never came (`enabled!`, or a question of the crate `log`), they
//! would leave our line out: <https://github.com/tokio-rs/tracing/issues/2519>.

use std::sync::OnceLock;

use tracing::callsite::{Callsite, Identifier};
use tracing::field::FieldSet;
use tracing::metadata::Kind;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata, Span, dispatcher};

/// The question about events of one level.
pub(super) struct Question(Metadata<'static>);

pub(super) static DEBUG: Question = Question::new(Level::DEBUG, &DEBUG);
pub(super) static INFO: Question = Question::new(Level::INFO, &INFO);
pub(super) static WARN: Question = Question::new(Level::WARN, &WARN);

impl Question {
    const fn new(level: Level, own: &'static Self) -> Self {
        const FIELDS: &[&str] = &[
            "message", "function", "attempt", "attempts", "verdict", "elapsed", "error", "delay",
            "outcome", "reason", "left_out",
        ];
        let fields = FieldSet::new(FIELDS, Identifier(own));
        let module = Some(module_path!());
        Self(Metadata::new(
            "event",
            "reattempt",
            level,
            None,
            None,
            module,
            fields,
            Kind::EVENT,
        ))
    }

    /// Asks. Call it in the last field of an event, because the text of an error may ask about events of its own.
    pub(super) fn ask(&'static self) {
        ask_about(&self.0);
    }
}

/// It is never registered: a subscriber sees it in the question alone.
impl Callsite for Question {
    fn set_interest(&self, _: Interest) {}

    fn metadata(&self) -> &Metadata<'_> {
        &self.0
    }
}

/// What a subscriber is asked about a span: the metadata of the first such span, because filters may know its callsite. So
/// the first one of a process is not asked about.
pub(super) struct SpanQuestion(OnceLock<&'static Metadata<'static>>);

impl SpanQuestion {
    pub(super) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Asks. Call it in a field of the span.
    pub(super) fn ask(&self) {
        if let Some(metadata) = self.0.get() {
            ask_about(metadata);
        }
    }

    pub(super) fn of(&self, span: Span) -> Span {
        if let Some(metadata) = span.metadata() {
            self.0.get_or_init(|| metadata);
        }
        span
    }
}

fn ask_about(metadata: &'static Metadata<'static>) {
    dispatcher::get_default(|dispatch| dispatch.enabled(metadata));
}
