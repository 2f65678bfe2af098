//! Asks the subscriber about an event or a span right before it gets it.
//!
//! Layers of `tracing-subscriber` that have filters of their own keep their last answers in the thread. If all layers
//! want all of our lines, `tracing` never asks about them, and the layers go by the answers that they gave before. If that
//! question was about a line of another crate which then never came (`enabled!`, or a question of the crate `log`), they
//! would leave our line out: <https://github.com/tokio-rs/tracing/issues/2519>.

use tracing::callsite::{Callsite, Identifier};
use tracing::field::FieldSet;
use tracing::metadata::Kind;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata, dispatcher};

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

/// Returns whether the subscriber of this thread wants an event or a span.
pub(super) fn ask_about(metadata: &'static Metadata<'static>) -> bool {
    dispatcher::get_default(|dispatch| dispatch.enabled(metadata))
}
