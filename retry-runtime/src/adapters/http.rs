//! HTTP: statuses, and the delay that a server asks for in `Retry-After`.
//!
//! Most clients return `Ok` for a 503, so nothing is retried. [`check`] turns such a response into a
//! [`StatusError`], which has a verdict. [`set_attempt_headers`] sends the server which attempt a request is, and how long
//! it is waited for. On the server, the `DeadlineLayer` of the feature `tower-0_5` keeps that deadline.
//!
//! # Examples
//!
//! ```
//! # mod reattempt { pub use reattempt_runtime::adapters::http as http_1; }
//! # use reattempt_runtime::{Retryable, Verdict};
//! use std::time::Duration;
//!
//! let response = http::Response::builder().status(503).header("retry-after", "2").body(()).unwrap();
//! let error = reattempt::http_1::check(response).unwrap_err();
//! assert_eq!(error.verdict(), Verdict::Transient);
//! assert_eq!(error.hint(), Some(Duration::from_secs(2)));
//! ```

mod date;
#[cfg(feature = "tower-0_5")]
mod deadline_layer;
mod given_up;
pub(crate) mod headers;
mod once;
#[cfg(feature = "_requests")]
mod request;
#[cfg(all(
    feature = "_requests",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
mod witness;

use std::error::Error;
use std::fmt;
use std::time::{Duration, SystemTime};

use ::http::header::{DATE, RETRY_AFTER};
use ::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

#[cfg(feature = "tower-0_5")]
pub use self::deadline_layer::{DeadlineLayer, DeadlineService};
pub use self::given_up::mark_given_up;
pub use self::headers::{
    ATTEMPT_NUMBER, IDEMPOTENCY_KEY, TIMEOUT_MS, is_idempotent, set_attempt_headers,
};
#[cfg(feature = "_requests")]
pub(crate) use self::once::is_harmless;
pub use self::once::send_once;
#[cfg(feature = "_requests")]
pub(crate) use self::request::{
    ClientError, ClientResponse, Departure, Destination, by_verdict, hop, send,
};
#[cfg(feature = "_requests")]
pub use self::request::{FailedRequest, Refusals, RequestInDoubt};
#[cfg(all(
    feature = "_requests",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub(crate) use self::{request::Redirected, witness::Watched};
use crate::classify::{OfClient, Retryable, Verdict};
use crate::clock;
use crate::codes;
use crate::context::Attempt;
use crate::deadline::header::number;
use crate::getters::getters;

/// The verdict is that of [`codes::http_status`].
#[diagnostic::do_not_recommend]
impl Retryable for StatusCode {
    fn verdict(&self) -> Verdict {
        codes::http_status(self.as_u16())
    }

    /// A 4xx that is permanent did not run.
    fn may_have_run(&self) -> bool {
        let verdict = self.verdict();
        verdict.may_have_run() && !(verdict == Verdict::Permanent && self.is_client_error())
    }
}

/// Says that the answer is the one that the server keeps for the idempotency key.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Say whether another attempt could help: the one of `OpenAI` and others, and the one of Stripe.
const SHOULD_RETRY: [HeaderName; 2] = [
    HeaderName::from_static("x-should-retry"),
    HeaderName::from_static("stripe-should-retry"),
];

/// Returns whether a response is a failure that is worth another attempt, for `when_ok`.
///
/// To follow `Retry-After` too, return it beside the answer:
/// `when_ok = |response| (is_retryable(response), retry_after(response.headers()))`, with [`retry_after`].
#[must_use]
pub fn is_retryable<T>(response: &Response<T>) -> bool {
    StatusError::retryable(response.status(), response.headers()).is_some()
}

/// Returns the response, or an error if its status is a failure.
///
/// # Errors
///
/// - The status is in 400 to 599. The response and its body are dropped.
pub fn check<T>(response: Response<T>) -> Result<Response<T>, StatusError> {
    let failure = StatusError::from_parts(response.status(), response.headers());
    failure.map_or(Ok(response), Err)
}

/// A response whose status is a failure, with the delay that the server asked for.
///
/// The verdict is that of [`codes::http_status`]. With a delay, these are throttled, and not permanent: 403, with which GitHub
/// limits rates; 409 and 423, whose cause is gone then; and 413 (RFC 9110, 15.5.14).
///
/// With the header `idempotent-replayed: true`, the server has sent what it keeps for the idempotency key. It does so for each
/// further attempt with the key, so the error is permanent.
///
/// With `x-should-retry: false` or `stripe-should-retry: false`, the error is permanent; with `true`, one that would not be retried is
/// transient, so a request that is not idempotent is not sent again.
///
/// A 409 is transient if it may be about the idempotency key of the call itself: a request of another attempt, which timed out
/// or failed, or which runs beside this one, may still have the key. A 400 or 422 is unknown then: the request with the key may have run,
/// and this one may differ from it. For both, make the error in the attempt, and send the key by
/// [`set_attempt_headers`], take it from [`Attempt::idempotency_key`], or name the header in the body of an annotated function:
/// `.header("idempotency-key", key)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusError {
    status: StatusCode,
    retry_after: Option<Duration>,
    /// The host and the path of the request, if the client says them. Not the query, which may have a secret.
    url: Option<Box<str>>,
    /// What is known beyond the status.
    known: Option<Verdict>,
}

impl StatusError {
    /// Makes an error from the status and the headers of a response. Returns `None` unless the status is in 400 to 599.
    #[must_use]
    pub fn from_parts(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        let has = |name: HeaderName, word| headers.get(name).is_some_and(|value| value == word);
        let should_retry = |word| SHOULD_RETRY.into_iter().any(|name| has(name, word));
        let key_in_use = || Attempt::current().is_some_and(|attempt| attempt.key_may_be_in_use());
        let known = || match status {
            _ if has(REPLAYED, "true") || should_retry("false") => Some(Verdict::Permanent),
            _ if should_retry("true") && !status.verdict().is_retryable() => {
                Some(Verdict::Transient)
            }
            // Another request of the call may still run with the same key.
            StatusCode::CONFLICT if key_in_use() => Some(Verdict::Transient),
            // It may have run, and this one differs from it: by a time, a random number, the boundary of a form.
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY if key_in_use() => {
                Some(Verdict::Unknown)
            }
            _ => None,
        };
        (status.is_client_error() || status.is_server_error()).then(|| Self {
            status,
            retry_after: retry_after(headers),
            url: None,
            known: known(),
        })
    }

    /// The same, if another attempt could help.
    pub(crate) fn retryable(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        Self::from_parts(status, headers).filter(|error| error.verdict().is_retryable())
    }

    /// Names the request in the text.
    #[cfg(feature = "_requests")]
    pub(crate) fn of(self, url: String) -> Self {
        let url = Some(url.into());
        Self { url, ..self }
    }

    /// A redirect that the client has not followed.
    #[cfg(feature = "_requests")]
    pub(crate) fn of_redirect(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        (status.is_redirection() && headers.contains_key(::http::header::LOCATION)).then_some(
            Self {
                status,
                retry_after: None,
                url: None,
                known: None,
            },
        )
    }

    /// Whether the server did not run the request.
    fn had_no_effect(&self) -> bool {
        match self.verdict() {
            Verdict::Refused => true,
            Verdict::Permanent => self.status.is_client_error(),
            _ => false,
        }
    }

    /// It may have run, since the answer came over a redirect.
    #[cfg(all(
        feature = "_requests",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    pub(crate) fn behind_a_redirect(mut self) -> Self {
        if self.verdict() == Verdict::Refused {
            self.known = Some(Verdict::Transient);
        }
        self
    }

    getters! {
        /// Returns the status.
        status: StatusCode;

        /// Returns the delay that the server asked for, or `None` if it asked for none.
        retry_after: Option<Duration>;
    }

    /// Sets the delay that the server asked for in another way, such as `retry-after-ms`, `RateLimit-Reset` or its body.
    ///
    /// # Examples
    ///
    /// ```
    /// # mod reattempt { pub use reattempt_runtime::adapters::http as http_1; }
    /// # use reattempt_runtime::Retryable;
    /// use std::time::Duration;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let response = http::Response::builder().status(429).header("retry-after-ms", "250").body(())?;
    /// let millis = response.headers().get("retry-after-ms").map(|value| value.to_str()).transpose()?;
    /// let millis: Option<u64> = millis.map(str::parse).transpose()?;
    /// let error = reattempt::http_1::check(response).unwrap_err();
    /// let error = match millis {
    ///     Some(millis) => error.with_retry_after(Duration::from_millis(millis)),
    ///     None => error,
    /// };
    /// assert_eq!(error.hint(), Some(Duration::from_millis(250)));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Sets that the server did not run the request. The verdict is then refused, whatever the status, so a request that is not
    /// idempotent is retried too.
    ///
    /// Use it if the documentation of the server says so, often of 429. RFC 6585 does not.
    #[must_use]
    pub fn refused(mut self) -> Self {
        self.known = Some(Verdict::Refused);
        self
    }
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.as_deref().unwrap_or("the server");
        write!(f, "{url} answered {}", self.status)
    }
}

impl Error for StatusError {}

impl OfClient for StatusError {}

#[diagnostic::do_not_recommend]
impl Retryable for StatusError {
    fn verdict(&self) -> Verdict {
        match (self.known, self.status) {
            (Some(verdict @ (Verdict::Permanent | Verdict::Refused)), _) => verdict,
            (
                _,
                StatusCode::FORBIDDEN
                | StatusCode::CONFLICT
                | StatusCode::PAYLOAD_TOO_LARGE
                | StatusCode::LOCKED,
            ) if self.retry_after.is_some() => Verdict::Throttled,
            (known, status) => known.unwrap_or_else(|| status.verdict()),
        }
    }

    fn hint(&self) -> Option<Duration> {
        self.retry_after
    }

    /// A 4xx that is permanent by its status did not run. What the server keeps for a key may have.
    fn may_have_run(&self) -> bool {
        match self.known {
            Some(known) => known.may_have_run(),
            None => self.verdict().may_have_run() && self.status.may_have_run(),
        }
    }
}

/// Reads the delay that a server asked for.
///
/// The value is a number of seconds, or a date in any of the three forms of HTTP, or in that of mail, which RFC 9110, 5.6.7,
/// asks to read too: `6 Nov 1994 08:49:37 +0000`. A fraction of a second, which some servers send against the standard, is
/// rounded up: `29.997` is 30 seconds.
///
/// - A date counts from the `Date` of the response, so that a wrong clock does not matter. Without
///   `Date` it counts from this machine's clock. A date in the past is a delay of zero.
/// - Of several values, the longest counts.
/// - Any other value (`1.5s`, `-1`, `soon`) is ignored.
/// - A number of seconds that overflows gives the longest possible delay.
///
/// The delay is not bounded here. The policy's `max_retry_after` and the deadline bound it.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    retry_after_at(headers, clock::date)
}

fn retry_after_at(headers: &HeaderMap, now: impl Fn() -> SystemTime) -> Option<Duration> {
    let sent_at = || {
        let now = now();
        let sent = headers.get(DATE).and_then(text);
        sent.and_then(|text| date::parse(text, now)).unwrap_or(now)
    };
    headers
        .get_all(RETRY_AFTER)
        .iter()
        .filter_map(|value| delay(value, sent_at))
        .max()
}

fn delay(value: &HeaderValue, sent_at: impl FnOnce() -> SystemTime) -> Option<Duration> {
    let text = text(value)?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if let (Some(seconds), Some(fraction)) = (number(whole), number(fraction)) {
        let more = u64::from(fraction > 0);
        return Some(Duration::from_secs(seconds.saturating_add(more)));
    }
    let sent_at = sent_at();
    let until = date::parse(text, sent_at)?;
    Some(until.duration_since(sent_at).unwrap_or(Duration::ZERO))
}

fn text(value: &HeaderValue) -> Option<&str> {
    Some(value.to_str().ok()?.trim_matches([' ', '\t']))
}

#[cfg(test)]
mod tests;
