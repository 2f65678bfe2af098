//! What a layer has to know of requests and responses.

use std::error::Error as StdError;
use std::future::ready;
use std::pin::Pin;
use std::time::Duration;

use crate::classify::Retryable;
use crate::lookup::BoxedError;

/// What a [`RetryLayer`](super::RetryLayer) has to know of the requests `Q` of a client, and of its responses `A`. An error of the client
/// [has a verdict itself](super::HasVerdict).
///
/// [`HttpRequests`](super::HttpRequests) is for requests of HTTP, and `GrpcRequests` for gRPC, with the feature `tonic-0_14` or `tonic-0_13`. Write your own for any other
/// request, or for other rules.
///
/// # Examples
///
/// A client whose body has a method that copies it:
///
/// ```
/// use http::{Request, Response};
/// use reattempt::http_1::{StatusError, is_idempotent};
/// use reattempt::tower_0_5::Requests;
/// # struct Body;
/// # impl Body { fn try_clone(&self) -> Option<Self> { Some(Self) } }
/// # mod reattempt { pub use reattempt_runtime::{adapters::http as http_1, tower as tower_0_5}; }
///
/// struct OwnRequests;
///
/// impl<B: Send> Requests<Request<Body>, Response<B>> for OwnRequests {
///     type Failure = StatusError;
///
///     fn copy(&self, request: Request<Body>) -> (Request<Body>, Option<Request<Body>>) {
///         let (head, body) = request.into_parts();
///         let copy = body.try_clone().map(|body| Request::from_parts(head.clone(), body));
///         (Request::from_parts(head, body), copy)
///     }
///
///     fn is_idempotent(&self, request: &Request<Body>) -> bool {
///         is_idempotent(request.method(), request.headers())
///     }
///
///     async fn failure(&self, _: Option<&Request<Body>>, response: &mut Response<B>) -> Option<StatusError> {
///         StatusError::from_parts(response.status(), response.headers())
///     }
///
///     fn host(&self, request: &Request<Body>) -> Option<String> {
///         Some(request.uri().host()?.to_ascii_lowercase())
///     }
/// }
/// ```
pub trait Requests<Q, A> {
    /// The error that a response stands for.
    type Failure: StdError + Retryable + Send + Sync + 'static;

    /// Returns the request, and a copy of it for a later attempt. With `None`, the call has one attempt. What could be copied
    /// once has to be copied again.
    fn copy(&self, request: Q) -> (Q, Option<Q>);

    /// Returns whether the request may run twice. If not, it is retried only after a failure without effect.
    fn is_idempotent(&self, request: &Q) -> bool;

    /// Returns what failed, or `None` if the response is a success. It is asked in the attempt, and may read the body, if it puts
    /// another one in its place. The response is retried if its verdict allows that, and else returned. The request is the copy for
    /// a later attempt, so it is `None` if it cannot be copied.
    fn failure(
        &self,
        request: Option<&Q>,
        response: &mut A,
    ) -> impl Future<Output = Option<Self::Failure>> + Send;

    /// Returns the host of the request, whose [budget](super::RetryLayer::with_budgets) bounds its retries. Default: `None`, so all
    /// requests share one.
    fn host(&self, _request: &Q) -> Option<String> {
        None
    }

    /// Returns how long exactly to wait after a response that is retried, without jitter. For `None`, the default, or zero, the
    /// delay is that of the policy, and of the hint.
    fn delay(&self, _request: Option<&Q>, _response: &A) -> Option<Duration> {
        None
    }

    /// What only requests of this crate do.
    #[doc(hidden)]
    fn own(&self) -> &(dyn OwnRequests<Q, A> + Sync) {
        &NoneOwn
    }
}

/// What [`HttpRequests`](super::HttpRequests) and `GrpcRequests` do beside. Requests of users have the defaults.
#[doc(hidden)]
pub trait OwnRequests<Q, A> {
    /// Returns what closes the connection on which the request is sent.
    fn leaves(&self, _request: &mut Q) -> Option<Box<dyn Fn() + Send>> {
        None
    }

    /// Returns how long the call may take, if the request says so. It shortens the deadline of the policy.
    fn deadline(&self, _request: &Q) -> Option<Duration> {
        None
    }

    /// Prepares what an attempt sends, such as its headers. It runs in the attempt.
    fn sends(&self, _request: &mut Q) {}

    /// Drops a response that is retried, before the wait. To keep its connection, it may read the rest of the body for at most
    /// 50 ms. Then it is dropped itself.
    fn discard<'r>(&self, response: A) -> Discarding<'r>
    where
        A: 'r,
    {
        drop(response);
        Box::pin(ready(()))
    }

    /// Returns whether the error says that the time of the attempt is over, for a client that keeps it too.
    fn timed_out(&self, _error: &BoxedError) -> bool {
        false
    }

    /// Turns the error of a layer with limits into the one for the caller.
    fn for_caller(&self, error: BoxedError) -> BoxedError {
        error
    }
}

pub(crate) type Discarding<'r> = Pin<Box<dyn Future<Output = ()> + Send + 'r>>;

struct NoneOwn;

impl<Q, A> OwnRequests<Q, A> for NoneOwn {}
