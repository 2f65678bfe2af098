//! The events of a call, for `tracing`.
//!
//! Arguments are never recorded. The text of an error is made only if the event is wanted. A function logs each message
//! at most ten times a second. The next line says how many were left out.

#[cfg(feature = "tracing")]
mod asked;
mod lines;
#[cfg(feature = "tracing")]
mod spans;

use std::time::Duration;

pub(crate) use self::lines::Lines;
#[cfg(feature = "tracing")]
pub(crate) use self::spans::{
    Begun, Entered, SpanBeside, Spans, may_be_wanted as spans_may_be_wanted,
};

use crate::budget::BudgetOfCall;
use crate::classify::Verdict;
#[cfg(feature = "tracing")]
use crate::clock::Stamp;
use crate::stopped::Outcome;

/// What an event says of a failed attempt.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "tracing"),
    expect(dead_code, reason = "only events say it")
)]
pub(crate) struct FailedAttempt<'a> {
    pub(crate) function: &'static str,
    pub(crate) attempt: u32,
    pub(crate) attempts: Option<u32>,
    pub(crate) verdict: Verdict,
    /// How long the call took, if its start is known. It reads the clock, so it is called only if the event is wanted.
    pub(crate) elapsed: &'a dyn Fn() -> Option<Duration>,
    /// The error in words.
    pub(crate) words: &'a dyn Words,
    /// The budget of the call, unless a call inside was refused.
    pub(crate) budget: Option<BudgetOfCall<'a>>,
    pub(crate) lines: &'a Lines,
}

/// Makes a text when a subscriber wants it, and not before.
pub trait Words {
    /// Returns the text.
    fn text(&self) -> String;
}

impl Words for &str {
    fn text(&self) -> String {
        (*self).to_owned()
    }
}

/// Writes an event, unless its line is left out: `first`, its own fields, and how many lines were left out before it. Returns
/// from the function if this line is left out too.
///
/// The limit and the question are in the fields. `tracing` evaluates these only if a subscriber or the crate `log` takes the
/// line, and there is no other way to ask `log`.
#[cfg(feature = "tracing")]
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
pub(crate) fn is_heard() -> bool {
    #[cfg(feature = "tracing")]
    return tracing::level_enabled!(tracing::Level::WARN);
    #[cfg(not(feature = "tracing"))]
    false
}

/// Whether anybody may take these events. Without a subscriber, `tracing` may pass events to the crate `log`.
#[inline]
pub(crate) fn may_be_heard() -> bool {
    #[cfg(feature = "tracing")]
    return is_heard() || !tracing::dispatcher::has_been_set();
    #[cfg(not(feature = "tracing"))]
    false
}

/// Writes the event of a failed attempt, unless its line is left out: the fields of every such event, then its own.
#[cfg(feature = "tracing")]
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
    #[cfg(feature = "tracing")]
    failed!(
        debug,
        DEBUG,
        failure,
        retrying,
        "attempt failed, retrying",
        ?delay
    );
    #[cfg(not(feature = "tracing"))]
    let FailedAttempt { .. } = failure;
    let _ = delay;
}

/// No attempt will follow: an event of level warn, or of level debug for an error that is not retryable, because the
/// caller deals with that.
pub(crate) fn gave_up(failure: FailedAttempt<'_>, outcome: Outcome) {
    #[cfg(feature = "tracing")]
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
    #[cfg(not(feature = "tracing"))]
    let _ = (failure, outcome);
}

/// An attempt waits for the end of the pause of its budget: an event of level debug.
pub(crate) fn paused(function: &'static str, delay: Duration, lines: &Lines) {
    #[cfg(feature = "tracing")]
    limited!(
        debug,
        DEBUG,
        lines.paused,
        function = function,
        "the budget is in a pause, waiting",
        ?delay
    );
    #[cfg(not(feature = "tracing"))]
    let _ = (function, delay, lines);
}

/// A hedge begins: an event of level debug.
pub(crate) fn hedged(
    function: &'static str,
    elapsed: impl Fn() -> Option<Duration>,
    lines: &Lines,
) {
    #[cfg(feature = "tracing")]
    limited!(
        debug,
        DEBUG,
        lines.hedged,
        function = function,
        "attempt is slow, hedged",
        elapsed = elapsed().map(tracing::field::debug)
    );
    #[cfg(not(feature = "tracing"))]
    let _ = (function, elapsed, lines);
}

/// One of two attempts failed, and the other still runs: an event of level debug.
pub(crate) fn set_aside(failure: FailedAttempt<'_>) {
    #[cfg(feature = "tracing")]
    failed!(
        debug,
        DEBUG,
        failure,
        set_aside,
        "attempt failed, the other still runs"
    );
    #[cfg(not(feature = "tracing"))]
    let FailedAttempt { .. } = failure;
}

/// A later attempt succeeded: an event of level info.
pub(crate) fn succeeded_after_retry(
    function: &'static str,
    attempt: u32,
    elapsed: impl Fn() -> Option<Duration>,
    lines: &Lines,
) {
    #[cfg(feature = "tracing")]
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
    #[cfg(not(feature = "tracing"))]
    let _ = (function, attempt, elapsed, lines);
}

/// A function has fewer attempts than its policy allows, because the calls around it retry too: an event of level info,
/// once for each function.
pub(crate) fn nested(function: &'static str, allowed: u32, attempts: u32) {
    #[cfg(feature = "tracing")]
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
    #[cfg(not(feature = "tracing"))]
    let _ = (function, allowed, attempts);
}

/// A function waits between attempts on a thread that runs the tasks of a runtime: an event of level warn, once for
/// each function.
pub(crate) fn blocked(function: &'static str) {
    #[cfg(feature = "tracing")]
    tracing::warn!(
        target: "reattempt",
        function = {
            asked::WARN.ask();
            function
        },
        "a wait between attempts blocks a thread of a tokio runtime: call the function in `spawn_blocking`"
    );
    #[cfg(not(feature = "tracing"))]
    let _ = function;
}

/// A request has a header for a deadline whose value is of another form: an event of level debug.
#[cfg(feature = "tower")]
pub(crate) fn ignored_header(header: &str, value: &[u8], expected: &'static str) {
    #[cfg(feature = "tracing")]
    {
        static LIMIT: lines::Limit = lines::Limit::new();
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
    #[cfg(not(feature = "tracing"))]
    let _ = (header, value, expected);
}

/// Why a budget refused a retry, and what to do about it.
#[cfg(feature = "tracing")]
struct Empty<'a>(&'static str, BudgetOfCall<'a>);

#[cfg(feature = "tracing")]
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
