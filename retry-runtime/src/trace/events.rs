//! Writes the events.

use tracing::{Level, dispatcher, event_enabled, field};

#[cfg(feature = "tower")]
use super::lines::Limit;
use super::{CallInTrace, Event};
use crate::budget::BudgetRef;
use crate::clock::Stamp;
use crate::stopped::Outcome;

/// Writes an event, unless it is not wanted or its line is left out. It says how many lines were left out before it.
///
/// The subscriber is asked first, by the names of the fields too, so a line that it does not want is not counted. `tracing`
/// may also pass the event to the crate `log`, which cannot be asked.
macro_rules! limited {
    ($level:ident, $limit:expr, $message:expr, $($name:ident = $value:expr),+ $(,)?) => {{
        let wanted =
            event_enabled!(target: "reattempt", Level::$level, message, $($name,)+ left_out);
        if wanted || !dispatcher::has_been_set() {
            if let Some(left_out) = $limit.pass(Stamp::now()) {
                let left_out = Some(left_out).filter(|left_out| *left_out > 0);
                tracing::event!(
                    target: "reattempt",
                    Level::$level,
                    $($name = $value,)+
                    left_out,
                    "{}",
                    $message
                );
            }
        }
    }};
}

/// Whether a subscriber takes the events of calls that fail.
#[inline]
pub(crate) fn subscriber_wants() -> bool {
    tracing::level_enabled!(Level::WARN)
}

/// Whether a subscriber may take these events. Without a subscriber, `tracing` may pass events to the crate `log`.
#[inline]
pub(crate) fn may_be_heard() -> bool {
    subscriber_wants() || !dispatcher::has_been_set()
}

/// Writes an event of a call. The fields of all events are the same, and each has values for its own.
pub(crate) fn write(event: Event<'_>, call: &CallInTrace<'_>) {
    let CallInTrace {
        function, lines, ..
    } = *call;
    let (level, limit, message) = match event {
        Event::Retrying(..) => (Level::DEBUG, &lines.retrying, "attempt failed, retrying"),
        Event::GaveUp(_, Outcome::NotRetryable, _) => {
            let message = "attempt failed, not retryable";
            (Level::DEBUG, &lines.not_retryable, message)
        }
        Event::GaveUp(_, Outcome::Cancelled, _) => {
            (Level::DEBUG, &lines.cancelled, "the call was cancelled")
        }
        Event::GaveUp(..) => (Level::WARN, &lines.gave_up, "gave up"),
        Event::StillFailing(..) => (Level::WARN, &lines.still_failing, "still failing"),
        Event::SetAside(_) => {
            let message = "attempt failed, the other still runs";
            (Level::DEBUG, &lines.set_aside, message)
        }
        Event::Paused(_) => {
            let message = "the budget is in a pause, waiting";
            (Level::DEBUG, &lines.paused, message)
        }
        Event::Hedged => (Level::DEBUG, &lines.hedged, "attempt is slow, hedged"),
        Event::Succeeded => (Level::INFO, &lines.succeeded, "succeeded after retry"),
        Event::FewerAttempts { allowed, own } => {
            return tracing::info!(
                target: "reattempt",
                function,
                allowed,
                attempts = own,
                "no attempts left: retries of nested calls add, they do not multiply"
            );
        }
        Event::Blocked => {
            return tracing::warn!(
                target: "reattempt",
                function,
                "a wait between attempts blocks a thread of a tokio runtime: call the function in `spawn_blocking`"
            );
        }
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
    let of_attempt = failed.is_some() || outcome.is_some();
    let started = call.started.filter(|_| delay.is_none() || failed.is_some());
    // The macros of `tracing` 0.1.35 call `line!`, so no macro here may have that name.
    macro_rules! at_level {
        ($level:ident) => {
            limited!(
                $level,
                limit,
                message,
                function = function,
                attempt = of_attempt.then_some(call.attempt),
                attempts = failed.and(call.attempts),
                verdict = failed.map(|failed| failed.verdict.as_str()),
                elapsed = started.map(|started| field::debug(Stamp::now().since(started))),
                error = failed.map(|failed| failed.words.to_string()),
                delay = delay.map(field::debug),
                outcome = outcome.map(Outcome::as_str),
                reason = budget.map(|budget| field::display(Empty(function, budget))),
            )
        };
    }
    match level {
        Level::DEBUG => at_level!(DEBUG),
        Level::INFO => at_level!(INFO),
        _ => at_level!(WARN),
    }
}

/// A request has a header for a deadline whose value is of another form: an event of level debug.
#[cfg(feature = "tower")]
pub(crate) fn ignored_header(header: &str, value: &[u8], expected: &'static str) {
    static LIMIT: Limit = Limit::EACH_SECOND;
    // A client chooses the value, so it is cut after what a deadline needs at most.
    let value = || String::from_utf8_lossy(&value[..value.len().min(32)]).into_owned();
    limited!(
        DEBUG,
        LIMIT,
        "a header with a deadline is ignored",
        header = header,
        value = value(),
        expected = expected,
    );
}

/// Why a budget refused a retry, and what to do about it.
struct Empty<'a>(&'static str, BudgetRef<'a>);

impl std::fmt::Display for Empty<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(function, budget) = self;
        write!(
            f,
            "the retry budget of `{function}` is empty ({} when full); see `budget`",
            budget.retries_when_full()
        )
    }
}
