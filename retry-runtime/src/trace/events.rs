//! Writes the events.

use std::time::Duration;

#[cfg(feature = "tower")]
use super::lines::Limit;
use super::lines::Lines;
use super::{FailedAttempt, asked};
use crate::budget::BudgetOfCall;
use crate::clock::Stamp;
use crate::stopped::Outcome;

/// Writes an event, unless its line is left out: `first`, its own fields, and how many lines were left out before it. Returns
/// from the function if this line is left out too.
///
/// The limit and the question are in the fields. `tracing` evaluates these only if a subscriber or the crate `log` takes the
/// line, and there is no other way to ask `log`.
macro_rules! limited {
    (
        $event:ident, $question:ident, $limit:expr,
        $first:ident = $value:expr, $message:literal $(, $($own:tt)+)?
    ) => {{
        let left_out;
        tracing::$event!(
            target: "reattempt",
            $first = {
                left_out = match $limit.pass(Stamp::now()) {
                    None => return,
                    Some(left_out) => Some(left_out).filter(|left_out| *left_out > 0),
                };
                $value
            },
            $($($own)+,)?
            left_out = {
                asked::$question.ask();
                left_out
            },
            $message
        );
    }};
}

/// Whether a subscriber takes the events of calls that fail.
#[inline]
pub(crate) fn subscriber_wants() -> bool {
    tracing::level_enabled!(tracing::Level::WARN)
}

/// Whether anybody may take these events. Without a subscriber, `tracing` may pass events to the crate `log`.
#[inline]
pub(crate) fn may_be_heard() -> bool {
    subscriber_wants() || !tracing::dispatcher::has_been_set()
}

/// Writes the event of a failed attempt, unless its line is left out: the fields of every such event, then its own.
macro_rules! failed {
    (
        $event:ident, $question:ident, $failure:ident, $line:ident, $message:literal
        $(, $($own:tt)+)?
    ) => {
        limited!(
            $event,
            $question,
            $failure.lines.$line,
            function = $failure.function,
            $message,
            attempt = $failure.attempt,
            attempts = $failure.attempts,
            verdict = $failure.verdict.as_str(),
            elapsed = ($failure.elapsed)().map(tracing::field::debug),
            error = $failure.words.text()
            $(, $($own)+)?
        )
    };
}

/// Another attempt will follow: an event of level debug.
#[inline]
pub(crate) fn retry_scheduled(failure: FailedAttempt<'_>, delay: Duration) {
    failed!(
        debug,
        DEBUG,
        failure,
        retrying,
        "attempt failed, retrying",
        ?delay
    );
}

/// No attempt will follow: an event of level warn, or of level debug for an error that is not retryable, because the
/// caller deals with that.
pub(crate) fn gave_up(failure: FailedAttempt<'_>, outcome: Outcome) {
    if outcome == Outcome::NotRetryable {
        failed!(
            debug,
            DEBUG,
            failure,
            not_retryable,
            "attempt failed, not retryable",
            outcome = outcome.as_str()
        );
    } else {
        let budget = failure.budget.filter(|_| outcome == Outcome::Budget);
        let empty = budget.map(|budget| Empty(failure.function, budget));
        failed!(
            warn,
            WARN,
            failure,
            gave_up,
            "gave up",
            outcome = outcome.as_str(),
            reason = empty.map(tracing::field::display)
        );
    }
}

/// An attempt waits for the end of the pause of its budget: an event of level debug.
pub(crate) fn paused(function: &'static str, delay: Duration, lines: &Lines) {
    limited!(
        debug,
        DEBUG,
        lines.paused,
        function = function,
        "the budget is in a pause, waiting",
        ?delay
    );
}

/// A hedge begins: an event of level debug.
pub(crate) fn hedged(
    function: &'static str,
    elapsed: impl Fn() -> Option<Duration>,
    lines: &Lines,
) {
    limited!(
        debug,
        DEBUG,
        lines.hedged,
        function = function,
        "attempt is slow, hedged",
        elapsed = elapsed().map(tracing::field::debug)
    );
}

/// One of two attempts failed, and the other still runs: an event of level debug.
pub(crate) fn set_aside(failure: FailedAttempt<'_>) {
    failed!(
        debug,
        DEBUG,
        failure,
        set_aside,
        "attempt failed, the other still runs"
    );
}

/// A later attempt succeeded: an event of level info.
pub(crate) fn succeeded_after_retry(
    function: &'static str,
    attempt: u32,
    elapsed: impl Fn() -> Option<Duration>,
    lines: &Lines,
) {
    limited!(
        info,
        INFO,
        lines.succeeded,
        function = function,
        "succeeded after retry",
        attempt,
        outcome = Outcome::SuccessAfterRetry.as_str(),
        elapsed = elapsed().map(tracing::field::debug)
    );
}

/// A function has fewer attempts than its policy allows, because the calls around it retry too: an event of level info,
/// once for each function.
pub(crate) fn nested(function: &'static str, allowed: u32, attempts: u32) {
    tracing::info!(
        target: "reattempt",
        function,
        allowed,
        attempts = {
            asked::INFO.ask();
            attempts
        },
        "no attempts left: retries of nested calls add, they do not multiply"
    );
}

/// A function waits between attempts on a thread that runs the tasks of a runtime: an event of level warn, once for
/// each function.
pub(crate) fn blocked(function: &'static str) {
    tracing::warn!(
        target: "reattempt",
        function = {
            asked::WARN.ask();
            function
        },
        "a wait between attempts blocks a thread of a tokio runtime: call the function in `spawn_blocking`"
    );
}

/// A request has a header for a deadline whose value is of another form: an event of level debug.
#[cfg(feature = "tower")]
pub(crate) fn ignored_header(header: &str, value: &[u8], expected: &'static str) {
    static LIMIT: Limit = Limit::new();
    // A client chooses the value, so it is cut after what a deadline needs at most.
    let value = || String::from_utf8_lossy(&value[..value.len().min(32)]).into_owned();
    limited!(
        debug,
        DEBUG,
        LIMIT,
        header = header,
        "a header with a deadline is ignored",
        value = value(),
        expected
    );
}

/// Why a budget refused a retry, and what to do about it.
struct Empty<'a>(&'static str, BudgetOfCall<'a>);

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
