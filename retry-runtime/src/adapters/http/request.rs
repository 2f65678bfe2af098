//! Requests of `reqwest` that are sent once, and the error of functions that send requests. All versions share them.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use ::http::{HeaderMap, Method, StatusCode};

use super::StatusError;
use super::once::ended;
use crate::classify::{Retryable, Verdict};
use crate::context::{Ended, open};
use crate::opaque::opaque;
use crate::stopped::{Effect, Stopped};

/// Why a request failed, for functions that only use HTTP. `C` is the error of the client.
///
/// `Display` and `source()` are those of the error inside, as those of [`reattempt::Error`](crate::Error#text-and-source).
#[derive(Debug)]
#[non_exhaustive]
pub enum FailedRequest<C> {
    /// There was no response, or it could not be read.
    Request(C),
    /// The status of the response is a failure.
    Status(StatusError),
    /// The call was stopped.
    Stopped(Stopped),
    /// The request may have run, and may not run twice.
    InDoubt(RequestInDoubt),
}

/// A request that may have run, and may not run twice: a POST, a PATCH or a write with a condition, without a key. Its answer was
/// lost, is a failure, or is a redirect that was not followed.
///
/// The verdict is unknown, and `on` finds nothing behind it: only `idempotent = true` repeats it. It is an error of its own, so that
/// it is in the chain of sources even if your error type leaves out the [`FailedRequest`], as `#[error(transparent)]` does.
#[derive(Debug)]
pub struct RequestInDoubt {
    method: Method,
    redirected: bool,
    status: Option<StatusCode>,
    hint: Option<Duration>,
    source: Box<dyn Error + Send + Sync>,
}

impl RequestInDoubt {
    /// Returns the method of the request.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns whether the answer came over a redirect, or no connection could be made behind one: the first server has most likely
    /// done its work. It is false if a connection was lost, because that is not known then.
    #[must_use]
    pub fn is_redirected(&self) -> bool {
        self.redirected
    }
}

#[diagnostic::do_not_recommend]
impl Retryable for RequestInDoubt {
    fn verdict(&self) -> Verdict {
        Verdict::Unknown
    }

    fn hint(&self) -> Option<Duration> {
        self.hint
    }
}

impl fmt::Display for RequestInDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let over = if self.redirected {
            " behind a redirect"
        } else {
            ""
        };
        write!(f, "the {} may have run, and failed{over}", self.method)
    }
}

impl Error for RequestInDoubt {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// The error of a client that sends a request.
pub(crate) trait ClientError: Retryable + Error + Send + Sync + 'static {
    /// Whether nothing was sent to the server that it names.
    fn is_unsent(&self) -> bool;
}

/// The response of a client.
pub(crate) trait ClientResponse {
    fn parts(&self) -> (StatusCode, &HeaderMap);

    /// What failed, if its status is a failure.
    fn failure(&self) -> Option<StatusError>;
}

/// A request that is sent once.
pub(crate) struct Sends<F> {
    pub(crate) method: Method,
    /// It may run twice.
    pub(crate) harmless: bool,
    /// By which failures the server says that it did not run the request.
    pub(crate) refused: F,
    /// Whether a status that is a failure is an error.
    pub(crate) checks: bool,
}

/// What came of it.
struct Sent<A, C> {
    result: Result<A, FailedRequest<C>>,
    failure: Option<StatusError>,
    redirected: bool,
}

impl<F: Fn(StatusCode, &HeaderMap) -> bool> Sends<F> {
    /// Awaits the answer, and whether it came over a redirect. Unless the request may run twice, the attempt knows of it from its
    /// beginning on.
    pub(crate) async fn send<A: ClientResponse, C: ClientError>(
        self,
        answered: impl Future<Output = (Result<A, FailedRequest<C>>, bool)>,
    ) -> Result<A, FailedRequest<C>> {
        let sent = async {
            let (result, redirected) = answered.await;
            let failure = result.as_ref().ok().and_then(|answer: &A| {
                let (status, headers) = answer.parts();
                let failure = answer.failure();
                let failure = failure.or_else(|| StatusError::of_redirect(status, headers))?;
                let refused = (self.refused)(status, headers);
                Some(if refused { failure.refused() } else { failure })
            });
            Sent {
                result,
                failure,
                redirected,
            }
        };
        let (sent, in_doubt) = if self.harmless {
            (sent.await, false)
        } else {
            let sent = open(Effect::Request, sent, Sent::ended).await;
            let in_doubt = sent.ended() == Ended::InDoubt;
            (sent, in_doubt)
        };
        let status = sent.result.as_ref().ok().map(|answer| answer.parts().0);
        let hint = sent.failure.as_ref().and_then(Retryable::hint);
        let source: Box<dyn Error + Send + Sync> = match (sent.result, sent.failure) {
            (Ok(answer), _) if !self.checks => return Ok(answer),
            (Ok(answer), None) if !in_doubt => return Ok(answer),
            (Ok(_), Some(failure)) if !in_doubt => return Err(failure.into()),
            (Err(error), _) if !in_doubt => return Err(error),
            (Err(FailedRequest::Request(error)), _) => error.into(),
            (Err(error), _) => return Err(error),
            (Ok(_), Some(failure)) => failure.into(),
            (Ok(answer), None) => answer.parts().0.to_string().into(),
        };
        Err(FailedRequest::InDoubt(RequestInDoubt {
            method: self.method,
            redirected: sent.redirected,
            status,
            hint,
            source,
        }))
    }
}

impl<A: ClientResponse, C: ClientError> Sent<A, C> {
    fn ended(&self) -> Ended {
        match &self.result {
            Ok(answer) => ended(answer.parts().0, self.failure.as_ref(), self.redirected),
            Err(error) if !self.redirected && had_no_effect(error) => Ended::Known,
            Err(_) => Ended::InDoubt,
        }
    }
}

/// A connection that fails behind a redirect: the request itself has run.
pub(crate) fn behind_a_redirect<C: ClientError>(method: Method, error: C) -> RequestInDoubt {
    RequestInDoubt {
        method,
        redirected: true,
        status: None,
        hint: None,
        source: error.into(),
    }
}

/// Whether nothing ran: nothing was sent, or the server said so.
fn had_no_effect<C: ClientError>(error: &FailedRequest<C>) -> bool {
    match error {
        FailedRequest::Request(error) => error.is_unsent() || error.verdict() == Verdict::Refused,
        FailedRequest::Status(error) => error.had_no_effect(),
        FailedRequest::Stopped(stopped) => stopped.cut().is_none(),
        FailedRequest::InDoubt(_) => false,
    }
}

impl<C> FailedRequest<C> {
    /// Returns the status of the answer, if there was one and it is a failure.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Status(error) => Some(error.status()),
            Self::InDoubt(error) => error.status,
            _ => None,
        }
    }
}

impl<C> From<RequestInDoubt> for FailedRequest<C> {
    fn from(error: RequestInDoubt) -> Self {
        Self::InDoubt(error)
    }
}

impl<C> From<StatusError> for FailedRequest<C> {
    fn from(error: StatusError) -> Self {
        Self::Status(error)
    }
}

impl<C> From<Stopped> for FailedRequest<C> {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl<C: Error + 'static> FailedRequest<C> {
    /// Returns the error inside.
    pub(crate) fn inside(&self) -> &(dyn Error + 'static) {
        match self {
            Self::Request(error) => error,
            Self::Status(error) => error,
            Self::Stopped(stopped) => stopped,
            Self::InDoubt(error) => error,
        }
    }
}

impl<C: fmt::Display> fmt::Display for FailedRequest<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::Status(error) => fmt::Display::fmt(error, f),
            Self::Stopped(stopped) => stopped.fmt_as_source(f),
            Self::InDoubt(error) => write!(f, "{error}: {}", error.source),
        }
    }
}

impl<C: Error + 'static> Error for FailedRequest<C> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Request(_) | Self::Status(_) => self.inside().source(),
            // These have the last word, also behind an error that leaves out this one.
            Self::Stopped(_) | Self::InDoubt(_) => Some(self.inside()),
        }
    }
}

/// A request, and by which failures the server says that it did not run it.
#[must_use = "a request is not sent before `send_once` or `send_checked`"]
pub struct Refusals<B, F> {
    pub(crate) builder: B,
    pub(crate) refused: F,
}

opaque! { Refusals [B, F] [B, F]; }

/// Without such a rule, the verdict of the status decides.
pub(crate) fn by_verdict(_: StatusCode, _: &HeaderMap) -> bool {
    false
}
