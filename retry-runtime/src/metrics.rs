//! What a call records with the crate `metrics`, if a recorder is installed.
//!
//! Attempts, retries and delays are recorded as they happen, and the rest when the call ends. The text of an error is never
//! recorded, so the number of series is bounded.

use std::time::Duration;

use crate::classify::Verdict;
use crate::report::{PreviousFailure, Report};

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempted {
    Succeeded,
    Failed(Verdict),
    /// It returned an `Ok` that is not ready, which is no failure of the service.
    NotReady,
    /// It was dropped or it panicked, so it has no verdict.
    Unfinished,
}

impl Attempted {
    /// How an attempt ended that failed like this.
    pub(crate) fn after(previous: PreviousFailure) -> Self {
        match previous {
            PreviousFailure::NotReady => Self::NotReady,
            failed => Self::Failed(failed.verdict()),
        }
    }

    /// The value of the label: the verdict, if there is one.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "success",
            Self::Failed(verdict) => verdict.as_str(),
            Self::NotReady => "not_ready",
            Self::Unfinished => "none",
        }
    }
}

/// What happens to a call, for a recorder.
#[cfg_attr(
    not(feature = "metrics"),
    expect(dead_code, reason = "only a recorder reads it")
)]
pub(crate) enum Metric {
    /// An attempt ended.
    Attempted(Attempted),
    /// A wait begins: its delay, and after a failure the level of the budget.
    WaitBegins(Duration, Option<f64>),
    /// The wait is over.
    WaitEnds,
    /// A retry begins, after an attempt that ended like this.
    RetryBegins(Attempted),
    /// The call ended.
    Ended(Report),
}

#[cfg(not(feature = "metrics"))]
pub(crate) const fn is_recording() -> bool {
    false
}

#[cfg(not(feature = "metrics"))]
pub(crate) fn record(_: &'static str, _: &Metric) {}

#[cfg(feature = "metrics")]
pub(crate) use self::recorded::{is_recording, record};

#[cfg(feature = "metrics")]
mod recorded {
    use std::ptr;

    use ::metrics::{
        NoopRecorder, Recorder, Unit, counter, describe_counter, describe_gauge,
        describe_histogram, gauge, histogram, with_recorder,
    };

    use super::Metric;
    use crate::atomics::Flag;
    use crate::report::HedgeOutcome;

    const CALLS: &str = "reattempt_calls_total";
    const ATTEMPTS: &str = "reattempt_attempts_total";
    const RETRIES: &str = "reattempt_retries";
    const BEGUN: &str = "reattempt_retries_begun_total";
    const WAITING: &str = "reattempt_calls_waiting";
    const DELAY: &str = "reattempt_delay_seconds";
    const SECONDS: &str = "reattempt_call_seconds";
    const BUDGET: &str = "reattempt_budget_level";
    const HEDGES: &str = "reattempt_hedges_total";

    /// Whether a recorder is installed, for this thread or for the process, and not the one that the crate `metrics` returns
    /// otherwise.
    ///
    /// It compares the tables of methods. Another type has the same table only if its methods are the same code, and then
    /// it records nothing either. A table may exist several times, for example without optimisation. Then a process without a
    /// recorder takes longer, and still records nothing.
    #[inline]
    pub(crate) fn is_recording() -> bool {
        static NOOP: NoopRecorder = NoopRecorder;
        with_recorder(|recorder| {
            let noop: *const dyn Recorder = &raw const NOOP;
            let recorder = ptr::from_ref(recorder);
            // A pointer to the address of `recorder`, with the methods of `noop`.
            let noop = noop.wrapping_byte_add(recorder.addr().wrapping_sub(noop.addr()));
            !ptr::eq(noop, recorder)
        })
    }

    #[cold]
    pub(crate) fn record(function: &'static str, metric: &Metric) {
        static DESCRIBED: Flag = Flag::new();
        // A recorder without fields is skipped: it may be the one that records nothing, and the real one would then miss the
        // description.
        let has_fields = with_recorder(|recorder| size_of_val(recorder) > 0);
        if has_fields && DESCRIBED.is_down() && DESCRIBED.raise() {
            describe();
        }
        match metric {
            Metric::Attempted(how) => {
                counter!(ATTEMPTS, "function" => function, "verdict" => how.as_str()).increment(1);
            }
            Metric::WaitBegins(delay, level) => {
                if let Some(level) = level {
                    gauge!(BUDGET, "function" => function).set(*level);
                }
                histogram!(DELAY, "function" => function).record(delay.as_secs_f64());
                gauge!(WAITING, "function" => function).increment(1.0);
            }
            Metric::WaitEnds => gauge!(WAITING, "function" => function).decrement(1.0),
            Metric::RetryBegins(after) => {
                counter!(BEGUN, "function" => function, "verdict" => after.as_str()).increment(1);
            }
            Metric::Ended(report) => {
                let outcome = report.outcome().as_str();
                counter!(CALLS, "function" => function, "outcome" => outcome).increment(1);
                // A hedge began without a wait.
                let hedges = matches!(report.hedge(), Some(HedgeOutcome::Won | HedgeOutcome::Lost));
                let retries = report.attempts().saturating_sub(1 + u32::from(hedges));
                histogram!(RETRIES, "function" => function).record(f64::from(retries));
                histogram!(SECONDS, "function" => function).record(report.elapsed().as_secs_f64());
                if let Some(level) = report.budget_level() {
                    gauge!(BUDGET, "function" => function).set(level);
                }
                if let Some(hedge) = report.hedge() {
                    counter!(HEDGES, "function" => function, "hedge" => hedge.as_str())
                        .increment(1);
                }
            }
        }
    }

    fn describe() {
        describe_counter!(CALLS, Unit::Count, "calls that ended, by outcome");
        describe_counter!(ATTEMPTS, Unit::Count, "attempts that ended, by verdict");
        describe_histogram!(RETRIES, Unit::Count, "retries of a call");
        describe_counter!(
            BEGUN,
            Unit::Count,
            "retries that began, by the verdict before them"
        );
        describe_gauge!(WAITING, "calls that are between two attempts");
        describe_histogram!(DELAY, Unit::Seconds, "the delay before a retry");
        describe_histogram!(SECONDS, Unit::Seconds, "the time of a call, with its waits");
        describe_gauge!(BUDGET, "tokens left when a call failed or ended");
        describe_counter!(
            HEDGES,
            Unit::Count,
            "calls that wanted a hedge, by what became of it"
        );
    }
}
