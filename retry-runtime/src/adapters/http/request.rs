//! Requests of `reqwest` that are sent once, and the error of functions that send requests. All versions share them.

use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Weak;
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
    /// One that had no answer.
    fn new(method: Method, redirected: bool, source: Box<dyn Error + Send + Sync>) -> Self {
        Self {
            method,
            redirected,
            status: None,
            hint: None,
            source,
        }
    }

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

    /// The place that it names.
    fn place(&self) -> Option<Destination>;
}

/// The response of a client.
pub(crate) trait ClientResponse {
    fn parts(&self) -> (StatusCode, &HeaderMap);

    /// Where it came from.
    fn place(&self) -> Destination;

    /// Lets a layer know that it came over a redirect. In a browser, there is none.
    fn mark_redirected(&mut self);

    /// What failed, if its status is a failure.
    fn failure(&self) -> Option<StatusError>;
}

/// What a redirect changes of a URL: all but its user and its fragment, as a hash.
pub(crate) type Destination = u64;

/// Marks a response that came over a redirect.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Redirected;

/// What is known of a request that may not run twice before it is sent.
pub(crate) struct Departure {
    pub(crate) at: (Method, Destination),
    /// Is gone once its body is, if that is watched.
    pub(crate) body: Option<Weak<()>>,
}

/// Awaits the answer of a client that may follow redirects. If one leads elsewhere, a response is marked, and an error is in doubt:
/// what failed is another request. One that may run twice has no `departure`.
///
/// A client drops the body that it has sent, and keeps one that it could not send until it fails. Between two requests, its future is
/// pending at least once. So a connection that failed after the body was gone is that of another request, of which the error says nothing.
pub(crate) async fn hop<A: ClientResponse, C: ClientError>(
    departure: Option<Departure>,
    answered: impl Future<Output = Result<A, C>>,
) -> Result<A, FailedRequest<C>> {
    let Some(Departure { at, body }) = departure else {
        return answered.await.map_err(FailedRequest::Request);
    };
    let (mut answered, mut was_sent) = (pin!(answered), false);
    let answered = poll_fn(|context| {
        was_sent = body.as_ref().is_some_and(|body| body.strong_count() == 0);
        answered.as_mut().poll(context)
    });
    let (method, place) = at;
    match answered.await {
        Ok(mut response) => {
            if response.place() != place {
                response.mark_redirected();
            }
            Ok(response)
        }
        Err(error)
            if was_sent && error.is_unsent() || error.place().is_some_and(|at| at != place) =>
        {
            Err(RequestInDoubt::new(method, true, error.into()).into())
        }
        Err(error) => Err(FailedRequest::Request(error)),
    }
}

/// Awaits the answer to a request. Unless it may run twice, it is sent `once`, and the attempt knows of it from its beginning on.
/// `refused` says by which failures the server did not run it; whether a failure is an error, `checks`.
pub(crate) async fn send<A: ClientResponse, C: ClientError>(
    once: Option<(Method, Destination)>,
    refused: impl Fn(StatusCode, &HeaderMap) -> bool,
    checks: bool,
    answered: impl Future<Output = Result<A, FailedRequest<C>>>,
) -> Result<A, FailedRequest<C>> {
    let sent = async {
        let answer = answered.await?;
        let (status, headers) = answer.parts();
        let failure = answer.failure();
        let failure = failure.or_else(|| StatusError::of_redirect(status, headers));
        let refused = failure.is_some() && refused(status, headers);
        let failure = failure.map(|failure| if refused { failure.refused() } else { failure });
        Ok((answer, failure))
    };
    let Some((method, place)) = once else {
        return match sent.await? {
            (_, Some(failure)) if checks => Err(failure.into()),
            (answer, _) => Ok(answer),
        };
    };
    let ends = |sent: &Result<(A, Option<StatusError>), _>| match sent {
        Ok((answer, failure)) => {
            let redirected = answer.place() != place;
            ended(answer.parts().0, failure.as_ref(), redirected)
        }
        Err(error) if had_no_effect(error) => Ended::Known,
        Err(_) => Ended::InDoubt,
    };
    let sent = open(Effect::Request, sent, ends).await;
    let in_doubt = ends(&sent) == Ended::InDoubt;
    match sent {
        Err(FailedRequest::Request(error)) if in_doubt => {
            Err(RequestInDoubt::new(method, false, error.into()).into())
        }
        Err(error) => Err(error),
        Ok((answer, _)) if !checks => Ok(answer),
        Ok((_, Some(failure))) if !in_doubt => Err(failure.into()),
        Ok((answer, None)) if !in_doubt => Ok(answer),
        Ok((answer, failure)) => {
            let (status, redirected) = (answer.parts().0, answer.place() != place);
            let hint = failure.as_ref().and_then(Retryable::hint);
            let source = failure.map_or_else(|| status.to_string().into(), Box::from);
            let status = Some(status);
            Err(FailedRequest::InDoubt(RequestInDoubt {
                status,
                hint,
                ..RequestInDoubt::new(method, redirected, source)
            }))
        }
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
