//! `tower`: retries for all requests of a client, as a layer on any service of `tower` 0.5.
//!
//! Put [`RetryLayer`] around the client: that of `hyper-util`, the `Channel` of `tonic`, or the services of a crate that is built
//! on `tower`. For servers, `http` has the `DeadlineLayer`.
//!
//! # Examples
//!
//! ```
//! # mod reattempt { pub use reattempt_runtime::*; pub use reattempt_runtime::tower as tower_0_5; }
//! use std::convert::Infallible;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! use http::{Request, Response};
//! use reattempt::Policy;
//! use reattempt::tower_0_5::RetryLayer;
//! use tower::{Layer as _, ServiceExt as _, service_fn};
//!
//! const POLICY: Policy = Policy::new().with_attempts(4);
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
//! static CALLS: AtomicU32 = AtomicU32::new(0);
//! let client = service_fn(async |_: Request<String>| {
//!     let status = if CALLS.fetch_add(1, Ordering::Relaxed) < 2 { 503 } else { 200 };
//!     Ok::<_, Infallible>(Response::builder().status(status).body(String::new()).unwrap())
//! });
//! let client = RetryLayer::new(POLICY).with_name("shop").layer(client);
//! let response = client.oneshot(Request::get("/").body(String::new()).unwrap()).await.unwrap();
//! assert_eq!((response.status().as_u16(), CALLS.load(Ordering::Relaxed)), (200, 3));
//! # }
//! ```

#[cfg(feature = "tonic-0_14")]
mod grpc;

use std::borrow::{Borrow, Cow};
use std::error::Error as StdError;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use ::http::{Request, Response};
use ::http_body::Body;
use tower_layer::Layer;
use tower_service::Service;

#[cfg(feature = "tonic-0_14")]
pub use self::grpc::GrpcRequests;
use crate::adapters::http::StatusError;
use crate::adapters::http::headers::{IDEMPOTENCY_KEY, host_of, may_repeat, note_key};
use crate::adapters::known;
use crate::budget::Budgets;
use crate::call::{Cut, Never, Stops};
use crate::classify::{Assessment, Retryable, Verdict};
#[doc(hidden)]
pub use crate::client_settings::FailedAttempt;
pub use crate::client_settings::Requests;
use crate::client_settings::{
    ANY_HOST, ClientBudget, ClientSettings, client_setters, read_rest, repeat,
};
use crate::lookup::BoxedError;
use crate::opaque::opaque;
use crate::site::{BudgetOf, PolicyOf, Site, SiteSettings};

/// Requests of HTTP whose [body](RequestBody) can be copied, or is a stream that is sent once. A status decides about a
/// response, and `Retry-After` is its hint. The type of an error says whether it is retried; see [`ServiceError`].
///
/// A method that is not idempotent, such as POST, and a write with a condition, such as `If-Match`, are retried only if nothing
/// ran, or with the header `Idempotency-Key`; see
/// [`is_idempotent`](crate::adapters::http::is_idempotent).
///
/// Of a response that is retried, a short rest of the body is read, at most 16 KiB and for at most 50 ms, so that its connection
/// can be used again.
#[derive(Debug, Clone, Copy, Default)]
pub struct HttpRequests {
    of_proxy: bool,
}

impl HttpRequests {
    /// For a client that makes its requests itself: a header `Idempotency-Key` says that the server knows keys.
    #[must_use]
    pub const fn new() -> Self {
        Self { of_proxy: false }
    }

    /// For a proxy, which passes on the requests of others. A header `Idempotency-Key` is passed on, and makes no request
    /// idempotent: only the client that set it knows whether the server reads it.
    #[must_use]
    pub const fn proxy() -> Self {
        Self { of_proxy: true }
    }
}

impl<B: RequestBody, R: Body + Send, E: ServiceError> Requests<Request<B>, Response<R>, E>
    for HttpRequests
{
    type Failure = StatusError;

    fn copy(&self, request: &mut Request<B>) -> Option<Request<B>> {
        let mut copy = Request::new(request.body().copy()?);
        *copy.method_mut() = request.method().clone();
        *copy.uri_mut() = request.uri().clone();
        *copy.version_mut() = request.version();
        *copy.headers_mut() = request.headers().clone();
        *copy.extensions_mut() = request.extensions().clone();
        Some(copy)
    }

    fn is_idempotent(&self, request: &Request<B>) -> bool {
        let has_key = !self.of_proxy && request.headers().contains_key(IDEMPOTENCY_KEY);
        has_key || may_repeat(request.method(), request.headers())
    }

    fn error(&self, error: &E) -> Option<(Verdict, Option<Duration>)> {
        Some(error.answer())
    }

    async fn failure(&self, response: &mut Response<R>) -> Option<StatusError> {
        StatusError::from_parts(response.status(), response.headers())
    }

    fn host<'q>(&self, request: &'q Request<B>) -> &'q str {
        let authority = request.uri().authority();
        authority.map_or(ANY_HOST, |authority| host_of(authority.as_str()))
    }

    fn sends(&self, request: &mut Request<B>) {
        if !self.of_proxy {
            note_key(request.headers());
        }
    }

    async fn discard(&self, response: Response<R>) {
        read_rest(response.into_body()).await;
    }
}

/// An error of a service that has a verdict: one that is [`Retryable`], or a `BoxError` of `tower`.
///
/// In a box, the errors that this crate knows are searched, along the chain of sources. For an error of your own in a box, such as
/// behind a `Timeout`, put `map_err` between this layer and the box, to a type that derives `Retryable`.
#[diagnostic::on_unimplemented(
    message = "`{Self}`, the error of the service, has no verdict",
    label = "expected an error that is `Retryable`, or a `tower::BoxError`",
    note = "derive `Retryable` for it; or, to have its sources decide, put `.map_err(tower::BoxError::from)` below the `RetryLayer`"
)]
pub trait ServiceError {
    /// Returns the verdict of the error, and the delay that it asks for.
    fn answer(&self) -> (Verdict, Option<Duration>);
}

#[diagnostic::do_not_recommend]
impl<E: Retryable> ServiceError for E {
    fn answer(&self) -> (Verdict, Option<Duration>) {
        (self.verdict(), self.hint())
    }
}

impl ServiceError for BoxedError {
    fn answer(&self) -> (Verdict, Option<Duration>) {
        let Assessment { verdict, hint } = known::assessment(&**self);
        (verdict, hint)
    }
}

/// The body of a request of [`HttpRequests`]: one that is `Clone`, or one of your own that may be a stream.
#[diagnostic::on_unimplemented(
    message = "the body `{Self}` is not `Clone`, so a request with it cannot be sent again",
    label = "a retry sends a copy of the request",
    note = "buffer the body, such as in a `Full<Bytes>`; or send a type of your own that implements `RequestBody`, as the example `gateway` does",
    note = "if a layer changes the body, put the `RetryLayer` above it, and a `Buffer` around a service that is not `Clone`",
    note = "in `Router::layer` of `axum`, put a `HandleErrorLayer` above the `RetryLayer` too: its error is a `BoxError`"
)]
pub trait RequestBody: Sized {
    /// Copies the body, or returns `None` if it is a stream, which is sent once.
    fn copy(&self) -> Option<Self>;
}

#[diagnostic::do_not_recommend]
impl<B: Clone> RequestBody for B {
    fn copy(&self) -> Option<Self> {
        Some(self.clone())
    }
}

/// A `tower` layer for clients: each request is a call, with the retries of a policy.
///
/// Limits, backoff, budget, nested calls, events and reports are those of an annotated function. All layers that are made at one
/// place in the source share a name (that place, unless [`with_name`](Self::with_name) sets another) and a default budget for each
/// [host](Self::with_budgets).
///
/// # What is retried
///
/// | an attempt ends with | next |
/// |---|---|
/// | a status that has a [retryable verdict](crate::codes::http_status), such as 503 | a retry. `Retry-After` is a lower bound of the wait, up to `max_retry_after` |
/// | any other response, such as 404 | the response is a success of the call |
/// | an error of the service, also in `poll_ready` | a retry, if its [type](ServiceError) has a verdict that allows it |
/// | a failure of a POST, a PATCH, or a write with a condition, such as `If-Match` | a retry only if nothing ran, or with an `Idempotency-Key`, [except in a proxy](HttpRequests::proxy) |
/// | a failure of a gRPC method | a retry only if nothing ran, or if the method may run twice: `GrpcRequests::with_idempotent` |
/// | a failure of a stream, which [`copy`](Requests::copy) cannot copy | no retry: it is sent once |
///
/// - **Limits end at the head of the response.** The body is read after the call, and is not retried. The `timeout` of a stream covers
///   its upload.
/// - **Set the key above the layer**, so that all attempts send the same one.
/// - **The service must be `Clone`**, and each attempt calls a clone. Put a `Buffer` around one that is not.
/// - **Readiness is a part of the attempt.** The layer itself is always ready. No permit is held during a wait or a pause.
/// - **A response that is retried is dropped before the wait**, so its stream and its permits are free. A short rest of its body is
///   read, for a connection of HTTP/1.
/// - **`hedge` of a policy has no effect**: a layer never makes two attempts at a time.
///
/// If the compiler says that a method such as `oneshot` exists, but that its trait bounds were not satisfied, write
/// `tower::Service::call(&mut client, request)` in its place. The compiler then says what is missing.
///
/// # What the caller gets
///
/// | the last attempt | the caller gets | a gateway answers |
/// |---|---|---|
/// | had a response | that response, whatever its status | with it |
/// | had an error | that error, in the `BoxError` | 502 |
/// | was cut by a timeout or a deadline, or did not begin in time | a [`Stopped`](crate::Stopped), whose source is the error of an earlier attempt | 504 |
/// | was in a pause of the budget that leaves no time | a `Stopped` with the outcome `paused` | 503 |
///
/// With `GrpcRequests`, a `Stopped` is in a `Status` with the code `DeadlineExceeded`, `Unavailable` or `Cancelled`. With
/// [`POLICY.without_limits()`](crate::Policy::without_limits), nothing stops a call: the error is that of the service, which is then not
/// a box.
///
/// # Where other layers go
///
/// | layer | above: once for a call | below: once for an attempt |
/// |---|---|---|
/// | `Timeout` | limits the call and its waits | limits an attempt, which is retried; prefer `timeout` and `deadline` of the policy, which send the time left |
/// | `ConcurrencyLimit`, `RateLimit` | counts calls, also while they wait | counts attempts, and takes no permit during a wait |
/// | `LoadShed` | sheds nothing | sheds an attempt, which is refused and so retried |
/// | `Buffer` | works | what a service below does before it returns its future, such as `map_request`, sees no attempt |
/// | `map_request` | sets the key | sets [the headers of the attempt](crate::adapters::http::set_attempt_headers), above a `Buffer` |
/// | `HandleError` of `axum` | turns the error into a response, as `Router::layer` needs it | – |
///
/// # Examples
///
/// An error as a status:
///
/// ```
/// # mod reattempt { pub use reattempt_runtime::*; pub use reattempt_runtime::tower as tower_0_5; }
/// use http::StatusCode;
/// use reattempt::{Outcome, Stopped};
///
/// fn status(error: &tower::BoxError) -> StatusCode {
///     match error.downcast_ref::<Stopped>().map(Stopped::outcome) {
///         Some(Outcome::Paused) => StatusCode::SERVICE_UNAVAILABLE,
///         Some(_) => StatusCode::GATEWAY_TIMEOUT,
///         None => StatusCode::BAD_GATEWAY,
///     }
/// }
/// # assert_eq!(status(&"reset".into()), StatusCode::BAD_GATEWAY);
/// ```
pub struct RetryLayer<Q = HttpRequests, L = Site<true>> {
    settings: ClientSettings,
    requests: Arc<Q>,
    ends: PhantomData<fn() -> L>,
}

impl RetryLayer {
    /// Retries with a [`Policy`](crate::Policy), or with a `&'static` [`Preset`](crate::Preset), which each request reads again.
    ///
    /// With [`POLICY.without_limits()`](crate::Policy::without_limits), nothing stops a call, and its error is that of the service.
    #[must_use]
    #[track_caller]
    pub fn new<P>(policy: P) -> RetryLayer<HttpRequests, P::Site>
    where
        P: PolicyOf + Send + Sync + 'static,
    {
        RetryLayer {
            settings: ClientSettings::new(policy),
            requests: Arc::new(HttpRequests::new()),
            ends: PhantomData,
        }
    }
}

impl<Q, L> RetryLayer<Q, L> {
    /// Sets what the layer knows of requests, responses and errors. Default: [`HttpRequests::new`].
    #[must_use]
    pub fn with_requests<N>(self, requests: N) -> RetryLayer<N, L> {
        RetryLayer {
            settings: self.settings,
            requests: Arc::new(requests),
            ends: PhantomData,
        }
    }

    client_setters!();
}

impl<Q, L> Clone for RetryLayer<Q, L> {
    fn clone(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            requests: Arc::clone(&self.requests),
            ends: PhantomData,
        }
    }
}

impl<S: Clone, Q, L> Layer<S> for RetryLayer<Q, L> {
    type Service = RetryService<S, Q, L>;

    fn layer(&self, inner: S) -> RetryService<S, Q, L> {
        let layer = Arc::new(self.clone());
        RetryService { inner, layer }
    }
}

/// The service that [`RetryLayer`] makes. It is always ready: each attempt waits until the service below is.
///
/// # Cancel safety
///
/// Dropping the future of a request drops its attempt, or ends the wait.
pub struct RetryService<S, Q = HttpRequests, L = Site<true>> {
    inner: S,
    layer: Arc<RetryLayer<Q, L>>,
}

impl<S, Q, L, N> Service<N> for RetryService<S, Q, L>
where
    S: Service<N, Error: Into<BoxedError>, Future: Send> + Clone + Send + 'static,
    S::Response: Send,
    Q: Requests<N, S::Response, S::Error> + Send + Sync + 'static,
    L: ErrorOfLayer<S::Error> + 'static,
    N: Send + 'static,
{
    type Response = S::Response;
    type Error = L::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, L::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), L::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: N) -> Self::Future {
        let (service, layer) = (self.inner.clone(), Arc::clone(&self.layer));
        Box::pin(async move {
            let requests = &*layer.requests;
            let send = move |request| {
                let mut service = service.clone();
                async move {
                    poll_fn(|context| service.poll_ready(context)).await?;
                    service.call(request).await
                }
            };
            let ended = repeat::<L::Cut, _, _, _, _, _>(&layer.settings, requests, request, send);
            let changed = |error| requests.for_caller(error);
            ended.await.map_err(|error| L::error(error, changed))
        })
    }
}

/// How the calls of a layer end. A site with limits has an error that can be a [`Stopped`](crate::Stopped).
#[doc(hidden)]
pub trait ErrorOfLayer<E> {
    type Cut: Stops<FailedAttempt, ()> + Send;
    type Error;

    fn error(error: BoxedError, changed: impl FnOnce(BoxedError) -> BoxedError) -> Self::Error;
}

impl<E> ErrorOfLayer<E> for Site<true> {
    type Cut = Cut;
    type Error = BoxedError;

    fn error(error: BoxedError, changed: impl FnOnce(BoxedError) -> BoxedError) -> BoxedError {
        changed(error)
    }
}

impl<E: StdError + 'static> ErrorOfLayer<E> for SiteSettings<'static> {
    type Cut = Never;
    type Error = E;

    fn error(error: BoxedError, _: impl FnOnce(BoxedError) -> BoxedError) -> E {
        let own = error.downcast();
        *own.expect("nothing stops the call, so it is the error of the service")
    }
}

impl<S: Clone, Q, L> Clone for RetryService<S, Q, L> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            layer: Arc::clone(&self.layer),
        }
    }
}

opaque! {
    RetryLayer [Q, L] [Q, L];
    RetryService [S, Q, L] [S, Q, L];
}
