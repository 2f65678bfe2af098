//! What a request tells the server of the attempt that sends it.

use ::http::{HeaderMap, HeaderName, HeaderValue};

use crate::context::Attempt;
use crate::deadline::header::format_millis;

/// The key by which a server knows a request again: the same for all attempts of a call.
///
/// The value is a UUID without quotes, as the services send and expect it that have such a key today. The draft of a
/// standard puts it in quotes (*The Idempotency-Key HTTP Header Field*, draft 07, IETF, 2025). For a server that
/// insists on them, set the header yourself; it is kept.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The number of the attempt, from 1.
///
/// Chosen by us, because there is no standard. `x-envoy-attempt-count` is Envoy's: a proxy on the way replaces it by
/// its own count. `X-Retry-Count` and `X-Retry-Attempt` count from 0 at some services and from 1 at others.
pub const ATTEMPT_NUMBER: HeaderName = HeaderName::from_static("x-attempt-number");

/// How many milliseconds the client will wait for the answer, in the format of
/// [`deadline::header::format_millis`](format_millis).
///
/// Chosen by us, because there is no standard beyond `grpc-timeout`.
pub const TIMEOUT_MS: HeaderName = HeaderName::from_static("x-timeout-ms");

/// Tells the server of the attempt that the current code runs in: sets [`IDEMPOTENCY_KEY`], [`ATTEMPT_NUMBER`] and,
/// if the attempt has a limit, [`TIMEOUT_MS`].
///
/// A header that is there already is kept. Outside of an attempt nothing is set.
///
/// The span of a later attempt gets the field `http.request.resend_count`, as the semantic conventions of
/// OpenTelemetry call the number of retries.
///
/// # Panics
///
/// - If the operating system has no randomness to give for the key.
///
/// # Examples
///
/// ```
/// # use retry_runtime::adapters as reattempt;
/// let mut request = http::Request::post("http://10.0.0.7/payments").body(()).unwrap();
/// reattempt::http::set_attempt_headers(request.headers_mut());
/// // Not in the body of an annotated function, so there is no attempt.
/// assert!(request.headers().is_empty());
/// ```
pub fn set_attempt_headers(headers: &mut HeaderMap) {
    let Some(attempt) = Attempt::current() else {
        return;
    };
    #[cfg(feature = "tracing")]
    attempt.record_resend();
    set(headers, IDEMPOTENCY_KEY, || {
        attempt.idempotency_key().to_string()
    });
    set(headers, ATTEMPT_NUMBER, || attempt.number().to_string());
    if let Some(left) = attempt.remaining() {
        set(headers, TIMEOUT_MS, || format_millis(left));
    }
}

fn set(headers: &mut HeaderMap, name: HeaderName, text: impl FnOnce() -> String) {
    if headers.contains_key(&name) {
        return;
    }
    // Digits, letters and hyphens are always a value.
    if let Ok(value) = HeaderValue::try_from(text()) {
        headers.insert(name, value);
    }
}
