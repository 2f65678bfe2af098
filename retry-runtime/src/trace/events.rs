//! Writes the events.

use tracing::{Level, dispatcher, event_enabled, field};

#[cfg(feature = "tower")]
use super::lines::Limit;
use super::{CallInEvent, Event};
use crate::budget::BudgetRef;
use crate::clock::Stamp;
use crate::stopped::Outcome;

/// Writes an event, unless it is not wanted or its line is left out. It says how many lines were left out before it.
///
/// The subscriber is asked first, by the names of the fields too, so a line that it does not want is not counted. `tracing`
/// may also pass the event to the crate `log`, which cannot be asked.
macro_rules! limited {
    ($level:ident, $limit:expr, $message:literal, $($name:ident = $value:expr),+ $(,)?) => {
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
                    $message
                );
            }
        }
    };
}

/// Whether a subscriber takes the events of calls that fail.
#[inline]
pub(crate) fn subscriber_wants() -> bool {
    tracing::level_enabled!(Level::WARN)
}

/// Whether anybody may take these events. Without a subscriber, `tracing` may pass events to the crate `log`.
#[inline]
pub(crate) fn may_be_heard() -> bool {
    subscriber_wants() || !dispatcher::has_been_set()
}

/// Writes the event of a failed attempt: the fields of every such event, then its own.
macro_rules! failed {
    (
        $level:ident, $line:ident, $message:literal, $call:ident, $failed:ident
        $(, $name:ident = $value:expr)* $(,)?
    ) => {
        limited!(
            $level,
            $call.lines.$line,
            $message,
            function = $call.function,
            attempt = $call.attempt,
            attempts = $call.attempts,
            verdict = $failed.verdict.as_str(),
            elapsed = ($call.elapsed)().map(field::debug),
            error = $failed.words.to_string()
            $(, $name = $value)*
        )
    };
}

/// Writes an event of a call.
#[expect(clippy::too_many_lines, reason = "an arm for each event")]
pub(crate) fn write(event: Event<'_>, call: &CallInEvent<'_>) {
    let CallInEvent {
        function, lines, ..
    } = *call;
    match event {
        Event::Retrying(failed, delay) => {
            failed!(
                DEBUG,
                retrying,
                "attempt failed, retrying",
                call,
                failed,
                delay = field::debug(delay),
            );
        }
        Event::GaveUp(failed, outcome @ Outcome::NotRetryable, _) => {
            failed!(
                DEBUG,
                not_retryable,
                "attempt failed, not retryable",
                call,
                failed,
                outcome = outcome.as_str(),
            );
        }
        Event::GaveUp(failed, outcome @ Outcome::Cancelled, _) => {
            failed!(
                DEBUG,
                cancelled,
                "the call was cancelled",
                call,
                failed,
                outcome = outcome.as_str(),
            );
        }
        Event::StillFailing(failed, delay) => {
            failed!(
                WARN,
                still_failing,
                "still failing",
                call,
                failed,
                delay = field::debug(delay),
            );
        }
        Event::GaveUp(failed, outcome, budget) => {
            failed!(
                WARN,
                gave_up,
                "gave up",
                call,
                failed,
                outcome = outcome.as_str(),
                reason = budget.map(|budget| field::display(Empty(function, budget))),
            );
        }
        Event::SetAside(failed) => {
            failed!(
                DEBUG,
                set_aside,
                "attempt failed, the other still runs",
                call,
                failed,
            );
        }
        Event::Paused(delay) => {
            limited!(
                DEBUG,
                lines.paused,
                "the budget is in a pause, waiting",
                function = function,
                delay = field::debug(delay),
            );
        }
        Event::Hedged => {
            limited!(
                DEBUG,
                lines.hedged,
                "attempt is slow, hedged",
                function = function,
                elapsed = (call.elapsed)().map(field::debug),
            );
        }
        Event::Succeeded => {
            limited!(
                INFO,
                lines.succeeded,
                "succeeded after retry",
                function = function,
                attempt = call.attempt,
                outcome = Outcome::SuccessAfterRetry.as_str(),
                elapsed = (call.elapsed)().map(field::debug),
            );
        }
        Event::FewerAttempts { allowed, own } => tracing::info!(
            target: "reattempt",
            function,
            allowed,
            attempts = own,
            "no attempts left: retries of nested calls add, they do not multiply"
        ),
        Event::Blocked => tracing::warn!(
            target: "reattempt",
            function,
            "a wait between attempts blocks a thread of a tokio runtime: call the function in `spawn_blocking`"
        ),
    }
}

/// A request has a header for a deadline whose value is of another form: an event of level debug.
#[cfg(feature = "tower")]
pub(crate) fn ignored_header(header: &str, value: &[u8], expected: &'static str) {
    static LIMIT: Limit = Limit::new();
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
