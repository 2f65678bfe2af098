//! `tower`: retries for all requests of a client, as a layer on any service of `tower` 0.5.
//!
//! Put [`RetryLayer`] around the client: that of `hyper-util`, the `Channel` of `tonic`, or the services of a crate that is built
//! on `tower`. For servers, `http` has the `DeadlineLayer`.
//!
//! # Examples
//!
//! ```
//! # use retry_runtime as reattempt;
//! use std::convert::Infallible;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! use http::{Request, Response};
//! use reattempt::Policy;
//! use reattempt::tower::RetryLayer;
//! use tower::{Layer as _, ServiceExt as _, service_fn};
//!
//! const POLICY: Policy = Policy::new().with_attempts(4);
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
//! static CALLS: AtomicU32 = AtomicU32::new(0);
//! let client = service_fn(async |_: Request<String>| {
//!     let status = if CALLS.fetch_add(1, Ordering::Relaxed) < 2 { 503 } else { 200 };
//!     Ok::<_, Infallible>(Response::builder().status(status).body(()).unwrap())
//! });
//! let client = RetryLayer::new(POLICY).with_name("shop").layer(client);
//! let response = client.oneshot(Request::get("/").body(String::new()).unwrap()).await.unwrap();
//! assert_eq!((response.status().as_u16(), CALLS.load(Ordering::Relaxed)), (200, 3));
//! # }
//! ```

#[cfg(feature = "tonic")]
mod grpc;

use std::error::Error as StdError;
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use ::http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;

#[cfg(feature = "tonic")]
pub use self::grpc::GrpcRequests;
use crate::adapters::http::StatusError;
use crate::adapters::http::headers::{is_idempotent, note_key};
use crate::adapters::known;
use crate::classify::{Assessment, Retryable, Verdict};
use crate::client_settings::ClientSettings;
use crate::opaque::opaque;
use crate::site::{BudgetOf, PolicyOf};
use crate::stopped::Stopped;

type BoxError = Box<dyn StdError + Send + Sync>;

/// What a [`RetryLayer`] has to know of the requests and responses of a service.
///
/// [`HttpRequests`] is for requests of HTTP that are `Clone`, and `GrpcRequests` for gRPC, with the feature `tonic`. Write your own for any other
/// request.
///
/// # Examples
///
/// A client whose body has a method that copies it:
///
/// ```
/// use http::{Request, Response};
/// use reattempt::http::StatusError;
/// use reattempt::tower::{HttpRequests, Requests};
/// # struct Body;
/// # impl Body { fn try_clone(&self) -> Option<Self> { Some(Self) } }
/// # mod reattempt { pub use retry_runtime::adapters::http; pub use retry_runtime::tower; }
///
/// struct OwnRequests;
///
/// impl<B> Requests<Request<Body>, Response<B>> for OwnRequests {
///     type Failure = StatusError;
///
///     fn copy(&self, request: &mut Request<Body>) -> Option<Request<Body>> {
///         let mut copy = Request::new(request.body().try_clone()?);
///         *copy.method_mut() = request.method().clone();
///         *copy.uri_mut() = request.uri().clone();
///         *copy.headers_mut() = request.headers().clone();
///         *copy.extensions_mut() = request.extensions().clone();
///         Some(copy)
///     }
///
///     fn is_idempotent(&self, request: &Request<Body>) -> bool {
///         request.method().is_idempotent()
///     }
///
///     fn failure(&self, response: &Response<B>) -> Option<StatusError> {
///         StatusError::from_parts(response.status(), response.headers())
///     }
/// }
/// ```
pub trait Requests<Q, A> {
    /// The error that a response stands for.
    type Failure: StdError + Retryable + Send;

    /// Copies the request for a later attempt. With `None`, the call has one attempt. What could be copied once has to be copied
    /// again.
    fn copy(&self, request: &mut Q) -> Option<Q>;

    /// Returns whether the request may run twice. If not, it is retried only after a failure without effect.
    fn is_idempotent(&self, request: &Q) -> bool;

    /// Returns what failed, or `None` if the response is a success. It is asked in the attempt. The response is retried if its
    /// verdict allows that, and else returned.
    fn failure(&self, response: &A) -> Option<Self::Failure>;

    /// Looks at what an attempt sends.
    fn sends(&self, _request: &Q) {}
}

/// Requests of HTTP that are `Clone`. A status decides about a response, and `Retry-After` is its hint.
///
/// A method that is not idempotent, such as POST, and a write with a condition, such as `If-Match`, are retried only if nothing
/// ran, or with the header `Idempotency-Key`.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct HttpRequests;

impl<B, R> Requests<Request<B>, Response<R>> for HttpRequests
where
    Request<B>: Clone,
{
    type Failure = StatusError;

    fn copy(&self, request: &mut Request<B>) -> Option<Request<B>> {
        Some(request.clone())
    }

    fn is_idempotent(&self, request: &Request<B>) -> bool {
        is_idempotent(request.method(), request.headers())
    }

    fn failure(&self, response: &Response<R>) -> Option<StatusError> {
        StatusError::from_parts(response.status(), response.headers())
    }

    fn sends(&self, request: &Request<B>) {
        note_key(request.headers());
    }
}

/// A `tower` layer for clients: each request is a call, with the retries of a policy.
///
/// Limits, backoff, budget, nested calls, events and reports are those of an annotated function. All layers that are made at one
/// place in the source share a name (that place, unless [`with_name`](Self::with_name) sets another) and a default budget.
///
/// The caller gets the response of the last attempt, whatever its status, or its error. If a timeout or a deadline cut it, the
/// error is a [`Stopped`]. An error is retried if one in its chain of sources has a
/// [verdict](Retryable) that allows it.
///
/// Each attempt calls a clone of the service, once that is ready. What is below this layer sees each attempt, and can ask
/// [`Attempt::current`](crate::Attempt::current), as
/// [`set_attempt_headers`](crate::adapters::http::set_attempt_headers) does. What is above sees the call.
pub struct RetryLayer<Q = HttpRequests> {
    settings: ClientSettings,
    requests: Arc<Q>,
}

impl RetryLayer {
    /// Retries with a [`Policy`](crate::Policy), or with a `&'static` [`Preset`](crate::Preset), which each request reads again.
    #[must_use]
    #[track_caller]
    pub fn new(policy: impl PolicyOf + Send + Sync + 'static) -> Self {
        Self {
            settings: ClientSettings::new(policy),
            requests: Arc::new(HttpRequests),
        }
    }
}

impl<Q> RetryLayer<Q> {
    /// Sets what the layer knows of requests and responses. Default: [`HttpRequests`].
    #[must_use]
    pub fn with_requests<N>(self, requests: N) -> RetryLayer<N> {
        RetryLayer {
            settings: self.settings,
            requests: Arc::new(requests),
        }
    }

    /// Sets the name in events, metrics and reports. Default: file, line and column of the call of [`RetryLayer::new`].
    #[must_use]
    pub fn with_name(mut self, name: &'static str) -> Self {
        self.settings.name = Some(name);
        self
    }

    /// Sets the budget that bounds the retries: a `&'static` [`Budget`](crate::Budget), or one in an `Arc`. Default: that of the
    /// policy. If the policy names none, one for each place in the source that calls [`RetryLayer::new`], and none if the attempts
    /// are unlimited.
    #[must_use]
    pub fn with_budget(mut self, budget: impl BudgetOf + Send + Sync + 'static) -> Self {
        self.settings.budget = Some(Arc::new(budget));
        self
    }

    /// Says whether a request may run twice, as [`Run::with_idempotent`](crate::Run::with_idempotent) does. Default:
    /// [`Requests::is_idempotent`] finds those that may not, and of the others nothing is said.
    #[must_use]
    pub fn with_idempotent(mut self, idempotent: bool) -> Self {
        self.settings.idempotent = Some(idempotent);
        self
    }

    /// Sets whether the text of errors stays out of events and spans, whose field `error` is then `(sensitive)`. Default: false.
    #[must_use]
    pub fn with_sensitive(mut self, sensitive: bool) -> Self {
        self.settings.sensitive = sensitive;
        self
    }

    /// Sets whether requests write no event, as [`Policy::with_silent`](crate::Policy::with_silent) does. Default: that of the
    /// policy.
    #[must_use]
    pub fn with_silent(mut self, silent: bool) -> Self {
        self.settings.silent = silent;
        self
    }
}

impl<Q> Clone for RetryLayer<Q> {
    fn clone(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            requests: Arc::clone(&self.requests),
        }
    }
}

impl<S, Q> Layer<S> for RetryLayer<Q> {
    type Service = RetryService<S, Q>;

    fn layer(&self, inner: S) -> RetryService<S, Q> {
        let layer = self.clone();
        RetryService { inner, layer }
    }
}

/// The service that [`RetryLayer`] makes.
///
/// # Cancel safety
///
/// Dropping the future of a request drops its attempt, or ends the wait.
pub struct RetryService<S, Q = HttpRequests> {
    inner: S,
    layer: RetryLayer<Q>,
}

impl<S, Q, N> Service<N> for RetryService<S, Q>
where
    S: Service<N, Error: Into<BoxError>, Future: Send> + Clone + Send + 'static,
    S::Response: Send,
    Q: Requests<N, S::Response> + Send + Sync + 'static,
    N: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, mut request: N) -> Self::Future {
        // The service that is ready makes the first attempt.
        let clone = self.inner.clone();
        let mut service = mem::replace(&mut self.inner, clone);
        let RetryLayer { settings, requests } = self.layer.clone();
        Box::pin(async move {
            let mut copy = requests.copy(&mut request);
            let policy = settings.policy(copy.is_some());
            let idempotent = requests.is_idempotent(&request);
            let mut next = Some(request);
            let (requests, settings) = (&*requests, &settings);
            let attempt = || {
                let sent = next.take().or_else(|| {
                    let again = copy.as_mut().and_then(|copy| requests.copy(copy));
                    again.or_else(|| copy.take())
                });
                let clone = service.clone();
                let mut service = mem::replace(&mut service, clone);
                async move {
                    let sent = sent.expect("a request without a copy has one attempt");
                    requests.sends(&sent);
                    let ready = poll_fn(|context| service.poll_ready(context)).await;
                    ready.map_err(FailedAttempt::with)?;
                    let response = service.call(sent).await.map_err(FailedAttempt::with)?;
                    match requests.failure(&response) {
                        Some(failure) if settings.is_failure(failure.verdict()) => {
                            Err(FailedAttempt {
                                assessment: Assessment::of(&failure),
                                error: failure.to_string().into(),
                                response: Some(response),
                            })
                        }
                        _ => Ok(response),
                    }
                }
            };
            let run = settings.run(policy, idempotent, attempt);
            let ended = run.unboxed().await;
            ended.or_else(|failed| failed.response.ok_or(failed.error))
        })
    }
}

struct FailedAttempt<A> {
    assessment: Assessment,
    /// The error, or what failed in the response.
    error: BoxError,
    response: Option<A>,
}

impl<A> FailedAttempt<A> {
    fn with(error: impl Into<BoxError>) -> Self {
        let error = error.into();
        Self {
            assessment: known::assessment(&*error),
            error,
            response: None,
        }
    }
}

impl<A> From<Stopped> for FailedAttempt<A> {
    fn from(stopped: Stopped) -> Self {
        Self::with(stopped)
    }
}

impl<A> Retryable for FailedAttempt<A> {
    fn verdict(&self) -> Verdict {
        self.assessment.verdict
    }

    fn hint(&self) -> Option<Duration> {
        self.assessment.hint
    }
}

impl<A> fmt::Display for FailedAttempt<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<S: Clone, Q> Clone for RetryService<S, Q> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            layer: self.layer.clone(),
        }
    }
}

opaque! {
    RetryLayer [Q] [Q];
    RetryService [S, Q] [S, Q];
}
