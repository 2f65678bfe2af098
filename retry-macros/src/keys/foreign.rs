//! The words of other crates and languages, and our keys for them.
//!
//! The words are those of `docs/MIGRATING.md`, those that reports show, and their nearest synonyms. For any other word, the message
//! names the nearest key, or lists all of them.

use super::Id;
use crate::text;

/// What a foreign word is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForeignWord {
    /// A key with another name and the same meaning.
    Key(Id),
    /// A number of retries, without the first attempt. Our `attempts` is one more.
    Retries,
    Value(Id, &'static str),
    /// Something that needs no key here, and why.
    Without(&'static str),
}

pub(crate) fn foreign(name: &str) -> Option<ForeignWord> {
    let name = text::snake_case(name);
    let row = TABLE.iter().find(|(words, _)| text::among(words, &name));
    row.map(|&(_, ours)| ours)
}

macro_rules! foreign {
    ($($ours:expr => $words:literal;)*) => { [$(($words, $ours)),*] };
}

/// The foreign words, separated by blanks, and what they are here.
static TABLE: &[(&str, ForeignWord)] = {
    use ForeignWord::{Key, Retries, Value, Without};
    &foreign! {
        Key(Id::Attempts) => "max_attempts attempt_count max_tries tries count limit stop_after_attempt stop";
        Retries => "retries max_retries retry retry_count retry_attempts num_retries max_times times take with_max_times";
        Value(Id::Attempts, "unlimited") => "unlimited infinite forever";
        Key(Id::Timeout) => "attempt_timeout per_attempt_timeout per_try_timeout call_timeout timeout_ms timeout_secs";
        Key(Id::Deadline) =>
            "max_elapsed_time max_elapsed total total_timeout operation_timeout total_delay with_total_delay max_duration max_time";
        Key(Id::Backoff) => "strategy wait schedule backoff_strategy";
        Value(Id::Backoff, "exponential") => "exponential exponential_backoff wait_exponential";
        Value(Id::Backoff, "constant") => "constant fixed fixed_interval wait_fixed";
        Value(Id::Backoff, "linear") => "linear";
        Value(Id::Backoff, "fibonacci") => "fibonacci";
        Key(Id::Base) =>
            "initial_interval initial_delay delay interval initial_backoff base_delay wait_initial retry_delay delay_ms from_millis wait_duration";
        Key(Id::ThrottledBase) => "throttle_base throttled_delay";
        Key(Id::MinDelay) => "minimum_delay floor";
        Key(Id::MaxDelay) => "max_interval max_backoff with_max_delay cap max_wait wait_max max_delay_ms";
        Key(Id::Factor) => "multiplier backoff_multiplier backoff_factor exponential_base with_factor";
        Key(Id::Jitter) => "jittered randomization_factor with_jitter use_jitter";
        Value(Id::Jitter, "full") => "full_jitter";
        Value(Id::Jitter, "none") => "no_jitter without_jitter";
        Key(Id::Delays) => "delay_list retry_delays intervals";
        Key(Id::RetryAfter) => "adjust delay_for";
        Key(Id::When) =>
            "retry_if condition predicate retry_when should_retry filter retryable is_retryable if matches pattern match";
        Key(Id::Verdict) => "classify";
        Key(Id::WhenOk) => "retry_if_result retry_on_result retry_on_result_predicate";
        Key(Id::Until) => "wait_until retry_until poll_until";
        Key(Id::On) => "retry_on retry_for retry_exceptions include handle exceptions errors error";
        Key(Id::Unless) => "not_on except exclude ignore ignore_exceptions abort_if stop_if";
        Key(Id::Policy) => "preset config settings options";
        Key(Id::Budget) => "retry_budget token_bucket";
        Key(Id::Blocking) => "sync";
        Key(Id::Sensitive) => "secret redact";
        Key(Id::Idempotent) => "is_idempotent";
        Key(Id::Hedge) => "hedging hedge_delay hedge_after";
        Key(Id::Cancel) => "cancellation cancel_token cancellation_token shutdown";
        Key(Id::CancelWaits) => "graceful_shutdown";
        Key(Id::OnRetry) => "notify on_error before_sleep";
        Key(Id::BeforeRetry) => "reconnect refresh";
        Key(Id::OnEnd) => "after on_give_up on_failure on_success";
        Key(Id::Name) => "label";
        Without("leave it out: write `x.clone()` in the body for what an attempt uses up, or `&x` to borrow it") =>
            "clone copy";
        Without("leave it out, all waits use tokio's timer; the first delay is `base = \"100ms\"`") => "sleep with_sleep";
        Without("leave it out, or write `jitter = \"none\"` for delays that are the same in each run") =>
            "seed jitter_seed with_jitter_seed";
        Without("leave it out: `response.check()?` gives an error that knows which status to retry; to choose, write `when = |error| …`") =>
            "retry_on_status status status_codes status_forcelist retry_codes";
        Without("leave it out: `Attempt::current()` has one key for all attempts of a call, and `attempt_headers()` sends it") =>
            "idempotency_key";
        Without("leave it out: each function has a retry budget, which stops its retries while a service is down; `budget` shares one") =>
            "circuit_breaker reset_timeout";
        Without("leave it out, and take a permit of a `tokio::sync::Semaphore` in the body") =>
            "concurrency max_concurrency rate_limit";
        Without("leave it out, and handle the error where you call the function: `fetch().await.or_else(|error| …)`") =>
            "fallback default";
    }
};

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;
    use crate::text::snake_case;

    #[test]
    fn no_word_is_in_the_table_twice_and_none_is_ours() {
        let mut seen = Vec::new();
        for word in TABLE.iter().flat_map(|(words, _)| words.split_whitespace()) {
            assert!(!seen.contains(&word), "`{word}` is twice in `TABLE`");
            assert!(
                find(word).is_none(),
                "`{word}` is our own key: take it out of `TABLE`, with its forms `with_…` and `…_ms`"
            );
            assert_eq!(snake_case(word), word);
            seen.push(word);
        }
    }

    #[test]
    fn spelling_conventions_do_not_matter() {
        for word in ["max_retries", "maxRetries", "MaxRetries", "MAX_RETRIES"] {
            assert_eq!(foreign(word), Some(ForeignWord::Retries), "{word}");
        }
        assert_eq!(foreign("atempts"), None);
    }
}
