//! The events of a call, for subscribers and for `on_retry`.

use std::fmt::Display;
use std::time::Duration;

use tracing::{Level, field};

use super::State;
use crate::budget::BudgetRef;
use crate::classify::Verdict;
use crate::event::RetryEvent;
use crate::report::PreviousFailure;
use crate::stopped::{Effect, Outcome};
use crate::trace::{self, Entered, ONCE, ONE_IN_A_MINUTE, TEN_IN_A_SECOND, limited};

/// What happens to a call, for an event.
#[derive(Clone, Copy)]
pub(super) enum Event<'a> {
    /// Another attempt will follow after this delay.
    Retrying(FailedWith<'a>, Duration),
    /// No attempt will follow. It has the budget of the call if that refused the retry.
    GaveUp(FailedWith<'a>, Outcome, Option<BudgetRef<'a>>),
    /// The call has been failing for a minute or longer, and goes on after this delay.
    StillFailing(FailedWith<'a>, Duration),
    /// One of two attempts failed, and the other still runs.
    SetAside(FailedWith<'a>),
    /// An attempt waits this long for the end of the pause of its budget.
    Paused(Duration),
    /// A hedge begins.
    Hedged,
    /// A later attempt succeeded.
    Succeeded,
    /// The call has fewer attempts than its `own`, because outer calls retry too.
    FewerAttempts { allowed: u32, own: u32 },
    /// The call waits on a thread that runs the tasks of a runtime.
    Blocked,
}

/// How an attempt failed: its verdict, and its error in words.
#[derive(Clone, Copy)]
pub(super) struct FailedWith<'a> {
    pub(super) verdict: Verdict,
    /// The text is made when a subscriber wants it, and not before.
    pub(super) words: &'a dyn Display,
}

impl State<'_> {
    /// Writes an event, in the span of the call. The fields of all events are the same, and each has values for its own.
    pub(super) fn log(&self, event: Event<'_>) {
        if self.settings.policy.is_silent() || !trace::may_be_heard() {
            return;
        }
        let (frame, function) = (&self.frame, self.settings.name);
        let (level, message) = match event {
            Event::Retrying(..) => (Level::DEBUG, "attempt failed, retrying"),
            // The caller deals with that.
            Event::GaveUp(_, Outcome::NotRetryable, _) => {
                (Level::DEBUG, "attempt failed, not retryable")
            }
            // Someone has to look.
            Event::GaveUp(_, Outcome::InDoubt, _) => {
                let effect = frame.open_effect().unwrap_or(Effect::Commit);
                (Level::WARN, trace::in_doubt(effect))
            }
            // The caller asked for it.
            Event::GaveUp(_, Outcome::Cancelled, _) => (Level::DEBUG, "the call was cancelled"),
            Event::GaveUp(..) => (Level::WARN, "gave up"),
            Event::StillFailing(..) => (Level::WARN, "still failing"),
            Event::SetAside(_) => (Level::DEBUG, "attempt failed, the other still runs"),
            Event::Paused(_) => (Level::DEBUG, "the budget is in a pause, waiting"),
            Event::Hedged => (Level::DEBUG, "attempt is slow, hedged"),
            Event::Succeeded => (Level::INFO, "succeeded after retry"),
            Event::FewerAttempts { .. } => (
                Level::INFO,
                "an outer call already used this function's retries",
            ),
            Event::Blocked => (
                Level::WARN,
                "a wait between attempts blocks a thread of a tokio runtime: call the function in `spawn_blocking`",
            ),
        };
        let most = match event {
            Event::StillFailing(..) => ONE_IN_A_MINUTE,
            Event::FewerAttempts { .. } | Event::Blocked => ONCE,
            _ => TEN_IN_A_SECOND,
        };
        let (failed, delay, outcome, budget) = match event {
            Event::Retrying(failed, delay) | Event::StillFailing(failed, delay) => {
                (Some(failed), Some(delay), None, None)
            }
            Event::GaveUp(failed, outcome, budget) => (Some(failed), None, Some(outcome), budget),
            Event::SetAside(failed) => (Some(failed), None, None, None),
            Event::Paused(delay) => (None, Some(delay), None, None),
            Event::Succeeded => (None, None, Some(Outcome::SuccessAfterRetry), None),
            _ => (None, None, None, None),
        };
        let (allowed, own) = match event {
            Event::FewerAttempts { allowed, own } => (Some(allowed), Some(own)),
            _ => (None, failed.and(frame.attempts_allowed())),
        };
        let ended = failed.is_some() || outcome.is_some();
        let empty = |budget: BudgetRef<'_>| {
            let when_full = budget.retries_when_full();
            format!(
                "the retry budget of `{function}` is empty ({when_full} when full); see `budget`"
            )
        };
        // The span of the call, because the event belongs to no attempt.
        let span = (frame.rest.get()).and_then(|rest| rest.noted().spans.call.clone());
        let _entered = span.map(Entered::new);
        // The macros of `tracing` 0.1.35 call `line!`, so no macro here may have that name.
        macro_rules! at_level {
            ($level:ident) => {
                limited!(
                    $level,
                    self.settings.shared.lines,
                    most,
                    message,
                    function = function,
                    attempt = ended.then(|| frame.present()),
                    allowed = allowed,
                    attempts = own,
                    verdict = failed.map(|failed| failed.verdict.as_str()),
                    elapsed_ms = self.elapsed().map(millis),
                    error = failed.map(|failed| failed.words.to_string()),
                    delay_ms = delay.map(millis),
                    outcome = outcome.map(Outcome::as_str),
                    reason = budget.map(|budget| field::display(empty(budget))),
                )
            };
        }
        match level {
            Level::DEBUG => at_level!(DEBUG),
            Level::INFO => at_level!(INFO),
            _ => at_level!(WARN),
        }
    }

    /// Returns the event for `on_retry`.
    pub(crate) fn event<'a, E>(
        &self,
        error: Option<&'a E>,
        words: &'a dyn Display,
    ) -> RetryEvent<'a, E> {
        let frame = &self.frame;
        RetryEvent {
            function: self.settings.name,
            attempt: frame.number(),
            attempts: frame.attempts_allowed(),
            verdict: (frame.previous).map_or(Verdict::Transient, PreviousFailure::verdict),
            delay: (frame.rest.get().and_then(|rest| rest.noted().waits.last)).unwrap_or_default(),
            elapsed: self.elapsed().unwrap_or_default(),
            error,
            words,
        }
    }
}

/// Milliseconds with three decimals: a number that can be added up, in a unit that people can read.
fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
