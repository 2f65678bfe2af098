//! The headers that tell a server about the attempt that sends a request.

use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ::http::header::{IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Request};

use crate::context::Attempt;
use crate::deadline;
#[cfg(any(feature = "_grpc", feature = "tower-0_5"))]
use crate::deadline::header::{format_grpc_timeout, parse_grpc_timeout};
use crate::deadline::header::{format_millis, parse_millis};
use crate::trace::{Lines, TEN_IN_A_SECOND, limited, may_be_heard};

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
/// [`deadline::header::format_millis`].
///
/// Our choice, because there is no standard beyond `grpc-timeout`.
pub const TIMEOUT_MS: HeaderName = HeaderName::from_static("x-timeout-ms");

/// Describes the current attempt to the server: sets [`ATTEMPT_NUMBER`], [`IDEMPOTENCY_KEY`] if the method is POST or PATCH,
/// and [`TIMEOUT_MS`] if the attempt has a limit.
///
/// Other methods are idempotent as they are, so they send no key. To send one with them, set the header to
/// [`Attempt::idempotency_key`]. A key that is already set is kept, such as that of the client of a proxy. A number is replaced, and of
/// two times the shorter one is sent.
///
/// Call it in the task of the attempt. Outside of an attempt, nothing is set, and an event of level warn says where it was called, once
/// for each place: above the layer that retries, as in an interceptor of a client of `tonic`; in `map_request` below a `Buffer` of
/// `tower`; or in a spawned task without [`propagate`](crate::propagate()). With a `RetryLayer`, use
/// `HttpRequests::with_attempt_headers`, or call it in `map_request` directly below the layer.
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
/// # mod reattempt { pub use reattempt_runtime::adapters::http as http_1; }
/// let mut request = http::Request::post("http://10.0.0.7/payments").body(()).unwrap();
/// reattempt::http_1::set_attempt_headers(&mut request);
/// // Not in the body of an annotated function, so there is no attempt.
/// assert!(request.headers().is_empty());
/// ```
#[track_caller]
pub fn set_attempt_headers<B>(request: &mut Request<B>) {
    set_headers(&request.method().clone(), request.headers_mut());
}

/// [`set_attempt_headers`], for the requests of clients.
#[track_caller]
pub(crate) fn set_headers(method: &Method, headers: &mut HeaderMap) {
    let Some(attempt) = attempt() else {
        return;
    };
    attempt.record_resend();
    // The methods that the draft of the standard is about.
    if [Method::POST, Method::PATCH].contains(method) {
        set_key(headers, &attempt);
    }
    note_key(headers);
    set_header(headers, ATTEMPT_NUMBER, attempt.number().to_string());
    MILLIS.set_left(headers);
}

/// The attempt to describe to the server. If there is none, an event of level warn says where it was asked for, once for each place
/// in the source.
#[track_caller]
pub(crate) fn attempt() -> Option<Attempt> {
    static PLACES: Mutex<BTreeSet<&Location<'_>>> = Mutex::new(BTreeSet::new());
    let (attempt, place) = (Attempt::current(), Location::caller());
    let places = || PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    if attempt.is_none() && may_be_heard() && places().insert(place) {
        tracing::warn!(
            target: "reattempt",
            %place,
            "headers of an attempt are set outside of an attempt"
        );
    }
    attempt
}

/// Sets the key, unless there is one.
pub(crate) fn set_key(headers: &mut HeaderMap, attempt: &Attempt) {
    if !headers.contains_key(IDEMPOTENCY_KEY) {
        set_header(
            headers,
            IDEMPOTENCY_KEY,
            attempt.idempotency_key().to_string(),
        );
    }
}

/// A header with the time that is left.
pub(crate) struct TimeHeader {
    pub(crate) name: HeaderName,
    parse: fn(&str) -> Option<Duration>,
    format: fn(Duration) -> String,
    /// What a value looks like.
    form: &'static str,
}

pub(crate) const MILLIS: TimeHeader = TimeHeader {
    name: TIMEOUT_MS,
    parse: parse_millis,
    format: format_millis,
    form: "milliseconds, such as `1500`",
};

/// The deadline of a call of gRPC.
#[cfg(any(feature = "_grpc", feature = "tower-0_5"))]
pub(crate) const GRPC: TimeHeader = TimeHeader {
    name: HeaderName::from_static("grpc-timeout"),
    parse: parse_grpc_timeout,
    format: format_grpc_timeout,
    form: "at most eight digits and a unit, such as `1500m`",
};

impl TimeHeader {
    /// Returns the shortest time in the values of the header, and says which of them are ignored.
    pub(crate) fn read(&self, headers: &HeaderMap) -> Option<Duration> {
        static LINES: Lines = Lines::new();
        let values = headers.get_all(&self.name).into_iter();
        let times = values.filter_map(|value| {
            let time = value.to_str().ok().and_then(self.parse);
            if time.is_none() {
                let value = value.as_bytes();
                // A client chooses the value, so it is cut after what a deadline needs at most.
                let value = || String::from_utf8_lossy(&value[..value.len().min(32)]).into_owned();
                limited!(
                    DEBUG,
                    LINES,
                    TEN_IN_A_SECOND,
                    "a header with a deadline is ignored",
                    header = self.name.as_str(),
                    value = value(),
                    expected = self.form,
                );
            }
            time
        });
        times.min()
    }

    /// Sets the time that an attempt has left, if it has a limit, or a shorter one that is set already.
    pub(crate) fn set_left(&self, headers: &mut HeaderMap) {
        if let Some(left) = deadline::remaining() {
            let shortest = self.read(headers).map_or(left, |set| set.min(left));
            set_header(headers, self.name.clone(), (self.format)(shortest));
        }
    }
}

/// Notes that the current attempt sends a key, if it does. A [409](super::StatusError) may be about that key then.
pub(crate) fn note_key(headers: &HeaderMap) {
    if headers.contains_key(IDEMPOTENCY_KEY) {
        crate::context::note_key();
    }
}

/// Returns whether a request may run twice: its method is idempotent and it has no condition, or it has the header
/// [`IDEMPOTENCY_KEY`].
///
/// A write with a condition (`If-Match`, `If-None-Match`, `If-Unmodified-Since`) may not. If its answer is lost, it may have changed
/// what the condition asks for, and the second run would fail with 412, as if another client had written (RFC 9110, section 13.2).
///
/// # Examples
///
/// ```
/// # mod reattempt { pub use reattempt_runtime::adapters::http as http_1; }
/// use http::{HeaderMap, HeaderValue, Method};
/// use reattempt::http_1::is_idempotent;
///
/// let mut headers = HeaderMap::new();
/// assert!(is_idempotent(&Method::PUT, &headers));
/// assert!(!is_idempotent(&Method::POST, &headers));
/// headers.insert("if-match", HeaderValue::from_static("\"1\""));
/// assert!(!is_idempotent(&Method::PUT, &headers));
/// headers.insert("idempotency-key", HeaderValue::from_static("order-7"));
/// assert!(is_idempotent(&Method::PUT, &headers) && is_idempotent(&Method::POST, &headers));
/// ```
#[must_use]
pub fn is_idempotent(method: &Method, headers: &HeaderMap) -> bool {
    headers.contains_key(IDEMPOTENCY_KEY) || may_repeat(method, headers)
}

/// The same, if a key says nothing.
pub(crate) fn may_repeat(method: &Method, headers: &HeaderMap) -> bool {
    let conditions = [IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE];
    let has_condition = conditions.iter().any(|name| headers.contains_key(name));
    method.is_safe() || method.is_idempotent() && !has_condition
}

/// The host of the authority of a URI in lower case, and its port if it has one.
#[cfg(any(feature = "_layers", feature = "_requests"))]
pub(crate) fn host_of(authority: &str) -> String {
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    host.to_ascii_lowercase()
}

/// Sets a header, in place of what it was.
pub(crate) fn set_header(headers: &mut HeaderMap, name: HeaderName, text: String) {
    // Digits, letters and hyphens always make a valid value.
    if let Ok(value) = HeaderValue::try_from(text) {
        headers.insert(name, value);
    }
}
