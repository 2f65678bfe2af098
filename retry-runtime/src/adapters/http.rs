//! HTTP: statuses, and the delay that a server asks for in `Retry-After`.
//!
//! A client that answers with an `Ok` for a 503 needs one more step, or nothing is retried:
//! [`check`] turns an unsuccessful response into a [`StatusError`], which says of itself what it is.
//!
//! # Examples
//!
//! ```
//! # use retry_runtime::adapters as reattempt;
//! # use retry_runtime::{Retryable, Verdict};
//! use std::time::Duration;
//!
//! let response = http::Response::builder().status(503).header("retry-after", "2").body(()).unwrap();
//! let error = reattempt::http::check(response).unwrap_err();
//! assert_eq!(error.verdict(), Verdict::Transient);
//! assert_eq!(error.hint(), Some(Duration::from_secs(2)));
//! ```

use std::error::Error;
use std::fmt;
use std::time::{Duration, SystemTime};

use ::http::header::{DATE, RETRY_AFTER};
use ::http::{HeaderMap, HeaderValue, Response, StatusCode};

use crate::classify::{Retryable, Verdict};

/// By number, with RFC 9110 as the source where no other is named.
///
/// A status outside of 400 to 599 is no failure: unknown.
#[diagnostic::do_not_recommend]
impl Retryable for StatusCode {
    #[expect(clippy::match_same_arms, reason = "one arm for each reason")]
    fn verdict(&self) -> Verdict {
        match self.as_u16() {
            // The server waited for the request and gave up; a client "MAY repeat the request".
            408 => Verdict::Transient,
            // RFC 8470: refused to run what might be a replay.
            425 => Verdict::Refused,
            // RFC 6585.
            429 => Verdict::Throttled,
            // Something broke; it may have done so half-way.
            500 => Verdict::Transient,
            // A gateway had no good answer from behind it; what is behind it may have run.
            502 | 504 => Verdict::Transient,
            // "Likely to be alleviated after some delay."
            503 => Verdict::Transient,

            // The other server errors are about what was asked or how the server is set up: 501, 505,
            // 506, 508 and 510; 507 waits for somebody to make room, 511 for somebody to log in.
            501 | 505..=508 | 510 | 511 => Verdict::Permanent,
            // The request is at fault, or waits for something else to happen first (409, 423).
            400..=499 => Verdict::Permanent,

            // Not registered: no table of anybody's says what it means.
            _ => Verdict::Unknown,
        }
    }
}

/// Whether a response is a failure that is worth another attempt: for `when_ok`.
///
/// `when_ok` knows no hint. Where `Retry-After` counts, [`check`] the response in the body.
#[must_use]
pub fn is_retryable<T>(response: &Response<T>) -> bool {
    response.status().verdict().is_retryable()
}

/// Lets a response pass whose status is no failure, and makes an error of any other.
///
/// # Errors
///
/// - The status is in 400 to 599. The response and its body are dropped.
pub fn check<T>(response: Response<T>) -> Result<Response<T>, StatusError> {
    match StatusError::of(response.status(), response.headers()) {
        Some(error) => Err(error),
        None => Ok(response),
    }
}

/// A server's answer that is a failure, with the delay that it asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusError {
    status: StatusCode,
    retry_after: Option<Duration>,
}

impl StatusError {
    /// Makes an error of a status in 400 to 599; `None` for any other.
    #[must_use]
    pub fn of(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        (status.is_client_error() || status.is_server_error()).then(|| Self {
            status,
            retry_after: retry_after(headers),
        })
    }

    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the delay that the server asked for.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answered {}", self.status)
    }
}

impl Error for StatusError {}

#[diagnostic::do_not_recommend]
impl Retryable for StatusError {
    fn verdict(&self) -> Verdict {
        self.status.verdict()
    }

    fn hint(&self) -> Option<Duration> {
        self.retry_after
    }
}

/// Reads the delay that a server asked for.
///
/// Seconds, or any of the three forms of an HTTP date. A date is taken relative to the response's own
/// `Date`, so that a clock that is set wrong does not matter, or else to this machine's clock; one that
/// is past is no delay at all. Of several values the longest counts, and one that is neither (`1.5`,
/// `-1`, `soon`) counts as not sent. Seconds that overflow are the longest delay there is.
///
/// The value is the server's word and not yet bounded: the policy's `max_retry_after` and the deadline
/// do that.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    retry_after_at(headers, SystemTime::now)
}

fn retry_after_at(headers: &HeaderMap, now: impl Fn() -> SystemTime) -> Option<Duration> {
    let sent_at = || headers.get(DATE).and_then(date).unwrap_or_else(&now);
    headers
        .get_all(RETRY_AFTER)
        .iter()
        .filter_map(|value| delay(value, sent_at))
        .max()
}

fn delay(value: &HeaderValue, sent_at: impl Fn() -> SystemTime) -> Option<Duration> {
    let text = text(value)?;
    // `1*DIGIT` and nothing else: `u64::from_str` alone would take a plus sign.
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let until = date(value)?;
    Some(until.duration_since(sent_at()).unwrap_or(Duration::ZERO))
}

fn date(value: &HeaderValue) -> Option<SystemTime> {
    httpdate::parse_http_date(text(value)?).ok()
}

fn text(value: &HeaderValue) -> Option<&str> {
    value
        .to_str()
        .ok()
        .map(|text| text.trim_matches([' ', '\t']))
}

#[cfg(test)]
mod tests;
