//! The events of a call, for subscribers and for `on_retry`.

use std::fmt::Display;
use std::time::Duration;

use tracing::{Level, field};

use super::State;
use crate::budget::BudgetRef;
use crate::classify::Verdict;
use crate::event::RetryEvent;
use crate::metrics::Attempted;
use crate::report::PreviousFailure;
use crate::stopped::{Effect, Outcome};
use crate::trace::{self, Entered, Most, ONCE, ONE_IN_A_MINUTE, TEN_IN_A_SECOND, limited};

/// What happens to a call: a row of the table below, and its values.
#[derive(Clone, Copy)]
pub(super) struct Event<'a> {
    pub(super) level: Level,
    pub(super) message: &'static str,
    /// How often it is written.
    pub(super) most: Most,
    /// How the attempt before it failed.
    pub(super) failed: Option<FailedWith<'a>>,
    /// How long the call waits now.
    pub(super) delay: Option<Duration>,
    pub(super) outcome: Option<Outcome>,
    /// The budget of the call, if that refused a retry.
    pub(super) budget: Option<BudgetRef<'a>>,
    /// How many attempts the call has, and how many of its own.
    pub(super) fewer: Option<(u32, u32)>,
}

/// The table of events.
impl Event<'_> {
    pub(super) const RETRYING: Self = Self::row(Level::DEBUG, "attempt failed, retrying");
    pub(super) const NOT_READY: Self = Self::row(Level::DEBUG, "not ready, waiting");
    pub(super) const SET_ASIDE: Self =
        Self::row(Level::DEBUG, "attempt failed, the other still runs");
    pub(super) const PAUSED: Self = Self::row(Level::DEBUG, "the budget is in a pause, waiting");
    pub(super) const HEDGED: Self = Self::row(Level::DEBUG, "attempt is slow, hedged");
    pub(super) const STILL_FAILING: Self = Self {
        most: ONE_IN_A_MINUTE,
        ..Self::row(Level::WARN, "still failing")
    };
    pub(super) const SUCCEEDED: Self = Self {
        outcome: Some(Outcome::SuccessAfterRetry),
        ..Self::row(Level::INFO, "succeeded after retry")
    };
    pub(super) const FEWER_ATTEMPTS: Self = Self {
        most: ONCE,
        ..Self::row(
            Level::INFO,
            "an outer call already used this function's retries",
        )
    };
    pub(super) const BLOCKED: Self = Self {
        most: ONCE,
        ..Self::row(
            Level::WARN,
            "a wait between attempts blocks a thread of a tokio runtime: call the function in `spawn_blocking`",
        )
    };

    /// The call failed with this outcome. What may not happen twice is open if that is in doubt.
    pub(super) fn gave_up(outcome: Outcome, open: Option<Effect>) -> Self {
        let row = match outcome {
            // The caller deals with that.
            Outcome::NotRetryable => Self::row(Level::DEBUG, "attempt failed, not retryable"),
            // The caller asked for it.
            Outcome::Cancelled => Self::row(Level::DEBUG, "the call was cancelled"),
            // Someone has to look.
            Outcome::InDoubt => {
                Self::row(Level::WARN, trace::in_doubt(open.unwrap_or(Effect::Commit)))
            }
            _ => Self::row(Level::WARN, "gave up"),
        };
        let outcome = Some(outcome);
        Self { outcome, ..row }
    }

    const fn row(level: Level, message: &'static str) -> Self {
        Self {
            level,
            message,
            most: TEN_IN_A_SECOND,
            failed: None,
            delay: None,
            outcome: None,
            budget: None,
            fewer: None,
        }
    }
}

/// How an attempt failed, and its error in words.
#[derive(Clone, Copy)]
pub(super) struct FailedWith<'a> {
    pub(super) how: Attempted,
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
        let failed = event.failed;
        let (allowed, own) = match event.fewer {
            Some((allowed, own)) => (Some(allowed), Some(own)),
            None => (None, failed.and(frame.attempts_allowed())),
        };
        let ended = failed.is_some() || event.outcome.is_some();
        let empty = |budget: BudgetRef<'_>| {
            let when_full = budget.retries_when_full();
            format!(
                "the retry budget of `{function}` is empty ({when_full} when full); see `budget`"
            )
        };
        // The span of the call, because the event belongs to no attempt.
        let span = frame.noted().and_then(|noted| noted.spans.call.clone());
        let _entered = span.map(Entered::new);
        // The macros of `tracing` 0.1.35 call `line!`, so no macro here may have that name.
        macro_rules! at_level {
            ($level:ident) => {
                limited!(
                    $level,
                    self.settings.shared.lines,
                    event.most,
                    event.message,
                    function = function,
                    attempt = ended.then(|| frame.present()),
                    allowed = allowed,
                    attempts = own,
                    verdict = failed.map(|failed| failed.how.as_str()),
                    elapsed_ms = self.elapsed().map(millis),
                    error = failed.map(|failed| failed.words.to_string()),
                    delay_ms = event.delay.map(millis),
                    outcome = event.outcome.map(Outcome::as_str),
                    reason = event.budget.map(|budget| field::display(empty(budget))),
                )
            };
        }
        match event.level {
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
            delay: (frame.noted().and_then(|noted| noted.waits.last)).unwrap_or_default(),
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
