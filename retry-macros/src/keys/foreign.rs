//! The words of other crates and languages, and our keys for them.
//!
//! The sources are backon, backoff, tokio-retry, again, tryhard, retry, and tenacity, stamina, urllib3 (Python), Resilience4j,
//! Spring, gax (Java), Polly (C#), cenkalti/backoff (Go), p-retry, axios-retry, got (JavaScript), the AWS SDKs and Envoy.

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

/// What to write for a list of HTTP statuses.
const STATUS: &str = "leave it out: `response.check()?` gives an error that knows which status to retry; to choose, write `when = |error| …`";

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
        Key(Id::Attempts) =>
            "max_attempts maximum_attempts max_attempt attempt_count num_attempts max_tries tries count limit \
            stop_after_attempt stop_after max_attempts_expression stop";
        Retries =>
            "retries max_retries maximum_retries max_retry retry retry_count retry_attempts max_retry_attempts \
            num_retries max_times times take n_retries number_of_retries retry_limit with_max_times";
        Value(Id::Attempts, "unlimited") => "unlimited infinite forever";
        Key(Id::Timeout) =>
            "attempt_timeout per_attempt_timeout timeout_per_attempt per_try_timeout try_timeout call_timeout \
            request_timeout operation_attempt_timeout api_call_attempt_timeout per_retry_timeout \
            per_try_idle_timeout initial_rpc_timeout max_rpc_timeout rpc_timeout time_limiter timeout_duration \
            timeout_ms timeout_millis timeout_milliseconds initial_rpc_timeout_millis max_rpc_timeout_millis \
            timeout_secs timeout_seconds timeout_sec timeout_s";
        Key(Id::Deadline) =>
            "max_elapsed_time max_elapsed total_timeout overall_timeout total_delay max_total_delay max_duration \
            time_limit max_time stop_after_delay max_retry_time global_timeout deadline_after total_time \
            with_total_delay operation_timeout api_call_timeout stop_before_delay deadline_ms deadline_millis \
            total_timeout_millis total_timeout_ms deadline_secs deadline_seconds";
        Key(Id::Backoff) =>
            "strategy wait schedule algorithm backoff_strategy backoff_type backoff_policy wait_strategy \
            interval_function retry_back_off retry_backoff";
        Value(Id::Backoff, "exponential") =>
            "exponential exponential_backoff expo exp wait_exponential enable_exponential_backoff \
            wait_random_exponential wait_exponential_jitter";
        Value(Id::Backoff, "constant") => "constant fixed constant_backoff fixed_backoff fixed_interval wait_fixed";
        Value(Id::Backoff, "linear") => "linear linear_backoff wait_incrementing";
        Value(Id::Backoff, "fibonacci") => "fibonacci fibonacci_backoff fibo fib";
        Key(Id::Base) =>
            "initial_interval initial_delay min_interval delay interval initial_backoff min_backoff base_delay \
            start_delay first_delay wait_duration wait_time min_timeout delay_base backoff_base pause base_interval \
            initial retry_delay retry_interval wait_initial initial_retry_delay median_first_retry_delay \
            delay_expression delay_ms interval_ms base_ms initial_delay_ms base_delay_ms delay_millis from_millis \
            retry_delay_ms initial_retry_delay_millis backoff_ms delay_secs interval_secs delay_seconds";
        Key(Id::ThrottledBase) =>
            "throttling_base throttle_base throttled_delay throttle_delay throttling_delay throttling_base_delay";
        Key(Id::MinDelay) => "minimum_delay shortest_delay min_wait floor delay_floor min_sleep";
        Key(Id::MaxDelay) =>
            "max_interval max_backoff maximum_interval maximum_delay maximum_backoff cap delay_cap max_wait \
            upper_limit max_timeout with_max_delay max_sleep wait_max max_retry_delay backoff_max backoff_limit \
            exponential_max_wait_duration max_delay_expression max_delay_ms max_interval_ms max_delay_millis \
            max_retry_delay_millis max_delay_secs max_delay_seconds";
        Key(Id::Factor) =>
            "multiplier backoff_multiplier backoff_factor exponential_base exponent growth growth_factor \
            backoff_coefficient rate ratio with_factor wait_exp_base exponential_backoff_multiplier \
            retry_delay_multiplier multiplier_expression";
        Key(Id::Jitter) =>
            "jittered jitter_mode jitter_type jitter_strategy randomization_factor randomize with_jitter \
            jitter_factor use_jitter wait_jitter randomized_wait_factor backoff_jitter";
        Value(Id::Jitter, "full") => "full_jitter random wait_random enable_randomized_wait";
        Value(Id::Jitter, "equal") => "equal_jitter";
        Value(Id::Jitter, "none") => "no_jitter without_jitter";
        Value(Id::Jitter, "decorrelated") => "decorrelated_jitter";
        Key(Id::Delays) =>
            "delay_list delay_sequence retry_delays fixed_delays intervals waits wait_times backoffs sleep_durations \
            wait_chain";
        Key(Id::MaxRetryAfter) => "retry_after_max max_retry_after_delay retry_after_limit max_hint max_server_delay";
        Key(Id::RetryAfter) =>
            "adjust adjust_delay delay_generator delay_for wait_for delay_after calculate_delay interval_bi_function \
            sleep_duration_provider rate_limited_retry_back_off";
        Key(Id::When) =>
            "retry_if condition predicate retry_when should_retry filter when_err retryable is_retryable \
            retry_condition if retry_predicate check should_handle retry_if_exception \
            retry_if_exception_message retry_on_exception_predicate exception_expression retry_classifier retry_any \
            retry_all retriable_headers matches pattern patterns match matching";
        Key(Id::Verdict) => "classify classifier classification error_classifier verdict_of verdicts";
        Key(Id::WhenOk) =>
            "retry_if_result retry_on_result when_result retry_result retry_if_ok on_ok handle_result \
            retry_on_result_predicate";
        Key(Id::Until) =>
            "wait_until retry_until poll_until repeat_until ready is_ready when_ready done is_done \
            retry_if_not_result accept validate_response fail_after_max_attempts";
        Key(Id::On) =>
            "retry_on retry_for exceptions exception errors error retry_exceptions on_exception include includes \
            retry_if_exception_type handle value";
        Key(Id::Unless) =>
            "not_on except exclude excludes no_retry_for retry_if_not_exception_type retry_unless_exception_type \
            ignore ignore_exceptions dont_retry_on no_retry_on not_retry_on abort_on fatal abort_if stop_if \
            give_up_if giveup give_up abort_when stop_when retry_if_not_exception_message";
        Key(Id::Policy) => "preset config configuration profile settings options";
        Key(Id::Budget) =>
            "retry_budget token_bucket quota throttle limiter retry_quota budget_percent min_retry_concurrency";
        Key(Id::Blocking) => "sync synchronous blocking_sleep thread_sleep";
        Key(Id::Sensitive) => "secret redact redacted confidential hide_error skip_err";
        Key(Id::Silent) => "quiet no_events without_events no_log without_logs log_level";
        Key(Id::Idempotent) => "safe is_idempotent repeatable allowed_methods methods disable_for_unsafe_http_methods";
        Key(Id::Nested) => "nesting nest inner";
        Key(Id::Hedge) =>
            "hedging hedge_delay hedge_after hedging_delay backup_after backup_delay backup_request speculative \
            hedge_on_per_try_timeout";
        Key(Id::Cancel) =>
            "cancellation cancel_token cancellation_token shutdown abort token signal cancel_on stop_when_event_set \
            abort_signal";
        Key(Id::CancelWaits) =>
            "cancel_wait cancel_retries cancel_between graceful graceful_shutdown drain stop_retrying";
        Without("leave it out: write `x.clone()` in the body for what an attempt uses up, or `&x` to borrow it") =>
            "clone clones cloned owned copy";
        Key(Id::OnRetry) =>
            "notify on_error on_err before_sleep on_failed_attempt listener callback hook on_backoff log listeners";
        Key(Id::BeforeRetry) => "before reconnect refresh on_before_retry before_attempt";
        Key(Id::OnEnd) =>
            "on_finish on_finished on_complete on_done on_give_up on_exhausted on_failure on_success after finally \
            on_max_retry_times_exceeded";
        Without("leave it out, all waits use tokio's timer; the first delay is `base = \"100ms\"`") =>
            "sleep sleeper timer with_sleep";
        Without("leave it out, or write `jitter = \"none\"` for delays that are the same in each run") =>
            "seed jitter_seed with_jitter_seed";
        Without(STATUS) =>
            "retry_on_status retry_on_statuses retry_on_status_code retry_on_status_codes retry_status retry_statuses \
            retry_status_codes status status_code status_codes retryable_status_codes retriable_status_codes \
            status_forcelist retry_codes retryable_codes error_codes http_codes codes raise_on_status";
        Without("leave it out: `Attempt::current()` has one key for all attempts of a call, and `attempt_headers()` sends it") =>
            "idempotency idempotency_key idempotency_token client_token";
        Without("leave it out: each function has a retry budget, which stops its retries while a service is down; `budget` shares one") =>
            "circuit_breaker breaker circuit failure_ratio failure_rate_threshold failure_threshold break_duration \
            sampling_duration minimum_throughput retry_mode adaptive reset_timeout open_timeout";
        Without("leave it out, and take a permit of a `tokio::sync::Semaphore` in the body") =>
            "bulkhead concurrency max_concurrency max_concurrent max_concurrent_calls rate_limiter rate_limit";
        Without("leave it out, and handle the error where you call the function: `fetch().await.or_else(|error| …)`") =>
            "fallback fallback_to fallback_method recover recovery not_recoverable retry_error_callback \
            retry_error_cls default";
        Without("leave it out: the last error is returned as it is") => "reraise throw rethrow raise";
        Without("leave it out: set it in the client; `timeout` limits the whole attempt") =>
            "connect_timeout connection_timeout read_timeout socket_timeout";
        Without("leave it out: a duration has its unit in its text, such as `\"1.5s\"`") => "time_unit unit units";
        Without("leave it out: a hint of the server is followed, up to `max_retry_after`") =>
            "respect_retry_after_header respect_retry_after use_retry_after";
        Without("leave it out: call `Attempt::record_progress` in the body where the count of attempts begins again") =>
            "should_consume_retry reset_after stateful";
        Key(Id::Name) => "label id operation title";
        Key(Id::Crate) => "krate crate_path crate_name path root";
    }
};

#[cfg(test)]
mod tests {
    use super::super::{KEYS, find};
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
    fn every_key_of_ours_has_a_foreign_word() {
        for key in KEYS {
            assert!(
                TABLE.iter().any(|(_, ours)| match ours {
                    ForeignWord::Key(id) | ForeignWord::Value(id, _) => id.key().name == key.name,
                    ForeignWord::Retries => key.name == "attempts",
                    ForeignWord::Without(_) => false,
                }),
                "`{}` has no row in `TABLE`",
                key.name
            );
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
