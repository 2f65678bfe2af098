//! The headers that tell a server about the attempt that sends a request.

#[cfg(any(feature = "reqwest-middleware", feature = "tower"))]
use ::http::header::{IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Request};

use crate::context::Attempt;
use crate::deadline::header::format_millis;

/// The idempotency key, by which a server recognises a repeated request: the same for all attempts of a call.
///
/// The value is a UUID without quotes, as existing services expect it. The draft of a standard puts it in quotes (*The
/// Idempotency-Key HTTP Header Field*, draft 07, IETF, 2025). For a server that requires quotes, set the header
/// yourself; it is kept.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The number of the attempt, from 1.
///
/// Our choice, because there is no standard. `x-envoy-attempt-count` belongs to Envoy, and a proxy replaces it with
/// its own count. `X-Retry-Count` and `X-Retry-Attempt` count from 0 in some services and from 1 in others.
pub const ATTEMPT_NUMBER: HeaderName = HeaderName::from_static("x-attempt-number");

/// How many milliseconds the client waits for the response, in the format of
/// [`deadline::header::format_millis`](format_millis).
///
/// Our choice, because there is no standard beyond `grpc-timeout`.
pub const TIMEOUT_MS: HeaderName = HeaderName::from_static("x-timeout-ms");

/// The deadline of a call of gRPC, in the format of
/// [`deadline::header::format_grpc_timeout`](crate::deadline::header::format_grpc_timeout).
#[cfg(any(feature = "tonic", feature = "tower"))]
pub(crate) const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// Describes the current attempt to the server: sets [`ATTEMPT_NUMBER`], [`IDEMPOTENCY_KEY`] if the method is POST or PATCH,
/// and [`TIMEOUT_MS`] if the attempt has a limit.
///
/// Other methods are idempotent as they are, so they send no key. To send one with them, set the header to
/// [`Attempt::idempotency_key`]. A header that is already set is kept. Outside of an attempt, nothing is set.
///
/// The span of each attempt after the first gets the field `http.request.resend_count`, as in the semantic conventions
/// of OpenTelemetry.
///
/// # Panics
///
/// - If the operating system gives no randomness for the key.
///
/// # Examples
///
/// ```
/// # use retry_runtime::adapters as reattempt;
/// let mut request = http::Request::post("http://10.0.0.7/payments").body(()).unwrap();
/// reattempt::http::set_attempt_headers(&mut request);
/// // Not in the body of an annotated function, so there is no attempt.
/// assert!(request.headers().is_empty());
/// ```
pub fn set_attempt_headers<B>(request: &mut Request<B>) {
    set_headers(&request.method().clone(), request.headers_mut());
}

/// [`set_attempt_headers`], for the requests of clients.
pub(crate) fn set_headers(method: &Method, headers: &mut HeaderMap) {
    let Some(attempt) = Attempt::current() else {
        return;
    };
    attempt.record_resend();
    // The methods that the draft of the standard is about.
    if [Method::POST, Method::PATCH].contains(method) {
        set_header(headers, IDEMPOTENCY_KEY, || {
            attempt.idempotency_key().to_string()
        });
    }
    note_key(headers);
    set_header(headers, ATTEMPT_NUMBER, || attempt.number().to_string());
    if let Some(left) = attempt.remaining() {
        set_header(headers, TIMEOUT_MS, || format_millis(left));
    }
}

/// Notes that the current attempt sends a key, if it does. A [409](super::StatusError) may be about that key then.
pub(crate) fn note_key(headers: &HeaderMap) {
    if headers.contains_key(IDEMPOTENCY_KEY) {
        if let Some(attempt) = Attempt::current() {
            attempt.note_key();
        }
    }
}

/// Whether a request may run twice.
///
/// A write with a condition may not. If the answer to it is lost, it may have changed what the condition asks for, and the
/// second run would fail with 412, as if another client had written (RFC 9110, section 13.2).
#[cfg(any(feature = "reqwest-middleware", feature = "tower"))]
pub(crate) fn is_idempotent(method: &Method, headers: &HeaderMap) -> bool {
    let conditions = [IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE];
    let has_condition = conditions.iter().any(|name| headers.contains_key(name));
    headers.contains_key(IDEMPOTENCY_KEY)
        || method.is_safe()
        || method.is_idempotent() && !has_condition
}

/// Sets a header that is not set yet.
pub(crate) fn set_header(headers: &mut HeaderMap, name: HeaderName, text: impl FnOnce() -> String) {
    if headers.contains_key(&name) {
        return;
    }
    // Digits, letters and hyphens always make a valid value.
    if let Ok(value) = HeaderValue::try_from(text()) {
        headers.insert(name, value);
    }
}
