//! The words of other crates and languages, and ours for them.
//!
//! Gathered from backon, backoff, tokio-retry, again, tryhard, retry, and from tenacity (Python),
//! Resilience4j and Spring (Java), Polly (C#), cenkalti/backoff (Go), p-retry (JavaScript).

use super::Id;
use crate::text;

/// Ours for a foreign word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// The same thing under another name.
    Key(Id),
    /// A number that leaves out the first call: ours is one more.
    Retries,
    /// A value that others write as a key.
    Value(Id, &'static str),
    /// The same thing under another name, as a number of milliseconds or seconds.
    Number(Id, &'static str),
    /// What needs no key here, and why.
    Without(&'static str),
}

/// What a foreign word is called here.
pub(crate) fn foreign(name: &str) -> Option<Foreign> {
    text::beside(TABLE, name)
}

/// Words separated by blanks, and ours for them.
static TABLE: &[(&str, Foreign)] = &[
    (
        "max_attempts maximum_attempts max_attempt attempt_count num_attempts max_tries tries \
         count limit stop_after_attempt stop_after",
        Foreign::Key(Id::Attempts),
    ),
    (
        "retries max_retries maximum_retries max_retry retry retry_count retry_attempts \
         max_retry_attempts num_retries max_times times take n_retries number_of_retries \
         retry_limit with_max_times",
        Foreign::Retries,
    ),
    (
        "unlimited infinite forever",
        Foreign::Value(Id::Attempts, "unlimited"),
    ),
    (
        "attempt_timeout per_attempt_timeout timeout_per_attempt per_try_timeout try_timeout \
         call_timeout request_timeout operation_timeout",
        Foreign::Key(Id::Timeout),
    ),
    (
        "timeout_ms timeout_millis timeout_milliseconds",
        Foreign::Number(Id::Timeout, "ms"),
    ),
    (
        "timeout_secs timeout_seconds timeout_sec timeout_s",
        Foreign::Number(Id::Timeout, "s"),
    ),
    (
        "max_elapsed_time max_elapsed total_timeout overall_timeout total_delay \
         max_total_delay max_duration time_limit max_time stop_after_delay max_retry_time \
         global_timeout deadline_after total_time with_total_delay",
        Foreign::Key(Id::Deadline),
    ),
    (
        "deadline_ms deadline_millis",
        Foreign::Number(Id::Deadline, "ms"),
    ),
    (
        "deadline_secs deadline_seconds",
        Foreign::Number(Id::Deadline, "s"),
    ),
    ("stop", Foreign::Key(Id::Attempts)),
    (
        "strategy wait schedule algorithm backoff_strategy backoff_type backoff_policy \
         wait_strategy",
        Foreign::Key(Id::Backoff),
    ),
    (
        "exponential exponential_backoff expo exp wait_exponential",
        Foreign::Value(Id::Backoff, "exponential"),
    ),
    (
        "constant fixed constant_backoff fixed_backoff fixed_interval wait_fixed",
        Foreign::Value(Id::Backoff, "constant"),
    ),
    (
        "linear linear_backoff",
        Foreign::Value(Id::Backoff, "linear"),
    ),
    (
        "fibonacci fibonacci_backoff fibo fib",
        Foreign::Value(Id::Backoff, "fibonacci"),
    ),
    (
        "initial_interval initial_delay min_delay min_interval delay interval initial_backoff \
         min_backoff base_delay start_delay first_delay wait_duration wait_time \
         min_timeout delay_base backoff_base pause base_interval initial with_min_delay",
        Foreign::Key(Id::Base),
    ),
    (
        "delay_ms interval_ms base_ms initial_delay_ms min_delay_ms base_delay_ms \
         delay_millis from_millis",
        Foreign::Number(Id::Base, "ms"),
    ),
    (
        "delay_secs interval_secs delay_seconds",
        Foreign::Number(Id::Base, "s"),
    ),
    (
        "max_interval max_backoff maximum_interval maximum_delay maximum_backoff cap \
         delay_cap max_wait upper_limit max_timeout with_max_delay max_sleep",
        Foreign::Key(Id::MaxDelay),
    ),
    (
        "max_delay_ms max_interval_ms max_delay_millis",
        Foreign::Number(Id::MaxDelay, "ms"),
    ),
    (
        "max_delay_secs max_delay_seconds",
        Foreign::Number(Id::MaxDelay, "s"),
    ),
    (
        "multiplier backoff_multiplier backoff_factor exponential_base exponent growth \
         growth_factor backoff_coefficient rate ratio with_factor",
        Foreign::Key(Id::Factor),
    ),
    (
        "jittered jitter_mode jitter_type jitter_strategy randomization_factor randomize \
         with_jitter jitter_factor",
        Foreign::Key(Id::Jitter),
    ),
    ("full_jitter", Foreign::Value(Id::Jitter, "full")),
    ("equal_jitter", Foreign::Value(Id::Jitter, "equal")),
    (
        "no_jitter without_jitter",
        Foreign::Value(Id::Jitter, "none"),
    ),
    (
        "decorrelated_jitter",
        Foreign::Value(Id::Jitter, "decorrelated"),
    ),
    (
        "retry_if condition predicate retry_when should_retry filter when_err retryable \
         is_retryable retry_condition if retry_predicate classify check",
        Foreign::Key(Id::When),
    ),
    (
        "until retry_if_result retry_on_result when_result retry_result retry_if_ok on_ok",
        Foreign::Key(Id::WhenOk),
    ),
    (
        "retry_on retry_for exceptions exception errors error retry_exceptions on_exception \
         include retry_if_exception_type",
        Foreign::Key(Id::On),
    ),
    (
        "except exclude no_retry_for ignore ignore_exceptions dont_retry_on no_retry_on \
         not_retry_on abort_on fatal",
        Foreign::Key(Id::NotOn),
    ),
    (
        "abort_if stop_if give_up_if giveup give_up abort_when stop_when",
        Foreign::Key(Id::Unless),
    ),
    ("pattern patterns match matching", Foreign::Key(Id::Matches)),
    (
        "preset config configuration profile settings options",
        Foreign::Key(Id::Policy),
    ),
    (
        "retry_budget token_bucket quota throttle limiter retry_quota",
        Foreign::Key(Id::Budget),
    ),
    (
        "safe is_idempotent repeatable",
        Foreign::Key(Id::Idempotent),
    ),
    ("nesting nest inner", Foreign::Key(Id::Nested)),
    (
        "cancellation cancel_token cancellation_token shutdown abort token signal cancel_on",
        Foreign::Key(Id::Cancel),
    ),
    ("clones cloned owned copy", Foreign::Key(Id::Clone)),
    (
        "notify on_error on_err before_sleep on_failed_attempt listener callback hook \
         on_backoff log",
        Foreign::Key(Id::OnRetry),
    ),
    (
        "before reconnect refresh recover on_before_retry before_attempt",
        Foreign::Key(Id::BeforeRetry),
    ),
    (
        "sleep sleeper timer with_sleep",
        Foreign::Without(
            "leave it out, all waits use tokio's timer; the first delay is `base = \"100ms\"`",
        ),
    ),
    (
        "adjust adjust_delay retry_after",
        Foreign::Without(
            "leave it out, a delay that the error carries is used: `#[retryable(throttled, after = \"field\")]`",
        ),
    ),
    (
        "seed jitter_seed with_jitter_seed",
        Foreign::Without(
            "leave it out, or write `jitter = \"none\"` for delays that are the same in each run",
        ),
    ),
    ("label id operation title", Foreign::Key(Id::Name)),
    (
        "krate crate_path crate_name path root",
        Foreign::Key(Id::Crate),
    ),
];

#[cfg(test)]
mod tests {
    use super::super::{KEYS, find};
    use super::*;
    use crate::text::snake_case;

    #[test]
    fn no_word_is_in_the_table_twice_and_none_is_ours() {
        let mut seen = Vec::new();
        for word in TABLE.iter().flat_map(|(words, _)| words.split_whitespace()) {
            assert!(!seen.contains(&word), "{word}");
            assert!(find(word).is_none(), "{word}");
            assert_eq!(snake_case(word), word);
            seen.push(word);
        }
    }

    #[test]
    fn every_key_of_ours_has_a_foreign_word() {
        for key in KEYS {
            assert!(
                TABLE.iter().any(|(_, ours)| match ours {
                    Foreign::Key(id) | Foreign::Value(id, _) | Foreign::Number(id, _) =>
                        id.key().name == key.name,
                    Foreign::Retries => key.name == "attempts",
                    Foreign::Without(_) => false,
                }),
                "{}",
                key.name
            );
        }
    }

    #[test]
    fn spelling_conventions_do_not_matter() {
        for word in ["max_retries", "maxRetries", "MaxRetries", "MAX_RETRIES"] {
            assert_eq!(foreign(word), Some(Foreign::Retries), "{word}");
        }
        assert_eq!(foreign("atempts"), None);
    }
}
