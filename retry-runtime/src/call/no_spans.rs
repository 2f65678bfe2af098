//! Replaces `spans.rs` without the feature `tracing`: does nothing.

use super::{Never, State};
use crate::metrics::Attempted;
use crate::stopped::Outcome;
use crate::trace::Words;

#[expect(clippy::unused_self, reason = "as with the feature")]
impl State<'_> {
    #[inline]
    pub(super) fn enter_attempt(&self, _begins: bool) {}

    #[inline]
    pub(super) fn leave_attempt(&self) {}

    #[inline]
    pub(super) fn end_attempt_span(&self, _how: Attempted, _words: Option<&dyn Words>) {}

    #[inline]
    pub(super) fn end_spans(&self, _outcome: Outcome) {}

    #[inline]
    pub(super) fn enter_call(&self) -> Option<Never> {
        None
    }
}
