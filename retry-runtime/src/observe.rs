//! What a call says of itself, where somebody listens.

use std::time::Duration;

use crate::{Outcome, Policy, Verdict};

/// Another attempt will follow: an event of level debug.
pub(crate) fn retry_scheduled(
    function: &str,
    attempt: u32,
    policy: &Policy,
    verdict: Verdict,
    delay: Duration,
) {
    #[cfg(feature = "tracing")]
    tracing::debug!(
        target: "reattempt",
        function,
        attempt,
        attempts = policy.attempts(),
        verdict = verdict.as_str(),
        ?delay,
        "attempt failed, retrying"
    );
    #[cfg(not(feature = "tracing"))]
    let _ = (function, attempt, policy, verdict, delay);
}

/// No attempt will follow: an event of level warn.
pub(crate) fn gave_up(
    function: &str,
    attempts: u32,
    outcome: Outcome,
    verdict: Verdict,
    elapsed: Duration,
) {
    #[cfg(feature = "tracing")]
    tracing::warn!(
        target: "reattempt",
        function,
        attempts,
        outcome = outcome.as_str(),
        verdict = verdict.as_str(),
        ?elapsed,
        "gave up"
    );
    #[cfg(not(feature = "tracing"))]
    let _ = (function, attempts, outcome, verdict, elapsed);
}

/// A later attempt succeeded: an event of level info.
pub(crate) fn succeeded_after_retry(function: &str, attempts: u32, elapsed: Duration) {
    #[cfg(feature = "tracing")]
    tracing::info!(
        target: "reattempt",
        function,
        attempts,
        outcome = Outcome::SuccessAfterRetry.as_str(),
        ?elapsed,
        "succeeded after retry"
    );
    #[cfg(not(feature = "tracing"))]
    let _ = (function, attempts, elapsed);
}
