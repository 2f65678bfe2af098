//! Writes the events.

#[cfg(feature = "tower")]
use super::lines::Limit;
use super::{CallInEvent, Event, asked};
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
        $event:ident, $question:ident, $call:ident, $failed:ident, $line:ident, $message:literal
        $(, $($own:tt)+)?
    ) => {
        limited!(
            $event,
            $question,
            $call.lines.$line,
            function = $call.function,
            $message,
            attempt = $call.attempt,
            attempts = $call.attempts,
            verdict = $failed.verdict.as_str(),
            elapsed = ($call.elapsed)().map(tracing::field::debug),
            error = $failed.words.to_string()
            $(, $($own)+)?
        )
    };
}

/// Writes an event of a call.
pub(crate) fn write(event: Event<'_>, call: &CallInEvent<'_>) {
    let CallInEvent {
        function, lines, ..
    } = *call;
    match event {
        Event::Retrying(failed, delay) => failed!(
            debug,
            DEBUG,
            call,
            failed,
            retrying,
            "attempt failed, retrying",
            ?delay
        ),
        Event::GaveUp(failed, Outcome::NotRetryable, _) => failed!(
            debug,
            DEBUG,
            call,
            failed,
            not_retryable,
            "attempt failed, not retryable",
            outcome = Outcome::NotRetryable.as_str()
        ),
        Event::GaveUp(failed, outcome, budget) => {
            let empty = budget.map(|budget| Empty(function, budget));
            failed!(
                warn,
                WARN,
                call,
                failed,
                gave_up,
                "gave up",
                outcome = outcome.as_str(),
                reason = empty.map(tracing::field::display)
            );
        }
        Event::SetAside(failed) => failed!(
            debug,
            DEBUG,
            call,
            failed,
            set_aside,
            "attempt failed, the other still runs"
        ),
        Event::Paused(delay) => limited!(
            debug,
            DEBUG,
            lines.paused,
            function = function,
            "the budget is in a pause, waiting",
            ?delay
        ),
        Event::Hedged => limited!(
            debug,
            DEBUG,
            lines.hedged,
            function = function,
            "attempt is slow, hedged",
            elapsed = (call.elapsed)().map(tracing::field::debug)
        ),
        Event::Succeeded => limited!(
            info,
            INFO,
            lines.succeeded,
            function = function,
            "succeeded after retry",
            attempt = call.attempt,
            outcome = Outcome::SuccessAfterRetry.as_str(),
            elapsed = (call.elapsed)().map(tracing::field::debug)
        ),
        Event::FewerAttempts { allowed, own } => tracing::info!(
            target: "reattempt",
            function,
            allowed,
            attempts = {
                asked::INFO.ask();
                own
            },
            "no attempts left: retries of nested calls add, they do not multiply"
        ),
        Event::Blocked => tracing::warn!(
            target: "reattempt",
            function = {
                asked::WARN.ask();
                function
            },
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
