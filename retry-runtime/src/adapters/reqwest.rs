//! `reqwest`: failed requests, and responses whose status is a failure.
//!
//! `send()` gives `Ok` for a response of any status, and `error_for_status()` drops the `Retry-After`
//! that came with it. [`ResponseExt::check`] makes an error that keeps both. A function that returns
//! this module's [`Error`] needs no rule in its attribute.
//!
//! # Examples
//!
//! ```
//! # use retry_runtime::adapters as reattempt;
//! use reattempt::reqwest::{Error, ResponseExt as _};
//!
//! // #[reattempt::retry(timeout = "2s")]
//! async fn fetch(client: &reqwest::Client, url: &str) -> Result<String, Error> {
//!     let response = client.get(url).send().await?.check()?;
//!     Ok(response.text().await?)
//! }
//! ```

use std::fmt;
use std::time::Duration;

use ::reqwest::Response;

use super::http::StatusError;
use super::known::{self, Alone};
use crate::classify::{Retryable, Said, Verdict};
use crate::stopped::Stopped;

/// By what happened, which `reqwest` tells apart, and by what is behind it:
///
/// - a connection that could not be made is refused, since no request was sent; a certificate that is
///   not trusted is permanent;
/// - a timeout is transient, as is a connection that was lost or a body that was cut off;
/// - a status is what [`StatusCode`](http::StatusCode) says;
/// - a request that could not be built, a redirect that went too far and a body that is not what was
///   asked for are permanent.
#[diagnostic::do_not_recommend]
impl Retryable for ::reqwest::Error {
    fn verdict(&self) -> Verdict {
        let own = self.alone().verdict;
        if own != Verdict::Unknown {
            return own;
        }
        let inside = known::inside(self);
        if self.is_connect() {
            return super::hyper::connect(inside);
        }
        if self.is_timeout() {
            return Verdict::Transient;
        }
        match inside {
            Some(said) => said.verdict,
            // No network at fault: the bytes are not what they were taken for.
            None if self.is_decode() => Verdict::Permanent,
            None => Verdict::Unknown,
        }
    }
}

impl Alone for ::reqwest::Error {
    fn alone(&self) -> Said {
        if self.is_builder() || self.is_redirect() {
            return Said::new(Verdict::Permanent);
        }
        self.status()
            .map_or(Said::UNKNOWN, |status| Said::of(&status))
    }
}

/// Turns a response whose status is a failure into an error.
pub trait ResponseExt: Sized {
    /// Lets a response pass whose status is no failure.
    ///
    /// # Errors
    ///
    /// - The status is in 400 to 599. The response and its body are dropped; the status and the delay
    ///   that the server asked for are kept.
    fn check(self) -> Result<Self, StatusError>;
}

impl ResponseExt for Response {
    fn check(self) -> Result<Self, StatusError> {
        match StatusError::of(self.status(), self.headers()) {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }
}

/// Whether a response is a failure that is worth another attempt: for `when_ok`.
///
/// `when_ok` knows no hint. Where `Retry-After` counts, [`check`](ResponseExt::check) the response in
/// the body.
#[must_use]
pub fn is_retryable(response: &Response) -> bool {
    response.status().verdict().is_retryable()
}

/// Why a request failed: for functions that do nothing but HTTP.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There was no answer, or it could not be read.
    Request(::reqwest::Error),
    /// The server answered, and its answer is a failure.
    Status(StatusError),
    /// The retried call was stopped.
    Stopped(Stopped),
}

impl From<::reqwest::Error> for Error {
    fn from(error: ::reqwest::Error) -> Self {
        Self::Request(error)
    }
}

impl From<StatusError> for Error {
    fn from(error: StatusError) -> Self {
        Self::Status(error)
    }
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::Status(error) => error.fmt(f),
            Self::Stopped(stopped) => stopped.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // Each is shown as itself, so its cause is the next link.
        match self {
            Self::Request(error) => error.source(),
            Self::Status(error) => error.source(),
            Self::Stopped(stopped) => stopped.source(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl Retryable for Error {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Request(error) => error.verdict(),
            Self::Status(error) => error.verdict(),
            Self::Stopped(stopped) => stopped.verdict(),
        }
    }

    fn hint(&self) -> Option<Duration> {
        match self {
            Self::Request(error) => error.hint(),
            Self::Status(error) => error.hint(),
            Self::Stopped(stopped) => stopped.hint(),
        }
    }
}
