//! `tower`: retries for all requests of a client, as a layer on any service of `tower` 0.5.
//!
//! Put a [`RetryLayer`] around the client: that of `hyper-util`, the `Channel` of `tonic`, or the services of a crate that is built
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
//! use tower::{Layer as _, service_fn};
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

mod answer;
mod attempts;
mod failed;
#[cfg(feature = "_grpc")]
mod grpc;
mod http;
mod requests;

use std::borrow::Borrow;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use ::tower::{Layer, Service};

pub use self::failed::{FailedAttempt, HasVerdict};
#[cfg(feature = "_grpc")]
pub use self::grpc::GrpcRequests;
pub use self::http::{HttpRequests, RequestBody};
pub(crate) use self::requests::Discarding;
pub use self::requests::{OwnRequests, Requests};
use crate::budget::Budgets;
use crate::call::{Cut, Never, Stops};
use crate::getters::setters;
use crate::lookup::BoxedError;
use crate::opaque::opaque;
use crate::policy::Policy;
use crate::result::ByFrom;
use crate::run::WithoutLimits;
use crate::site::{BudgetOf, Located, PolicyOf, SiteSettings};

/// A layer for clients: each request is a call, with the retries of a policy. It is a layer of `tower`, and a middleware of
/// `reqwest-middleware`.
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
/// | an error of a service, also in `poll_ready` | a retry, if its [verdict](HasVerdict) allows it |
/// | `timeout`, before the service was ready | a retry, of a POST too: nothing was sent, so the attempt is refused |
/// | an error of `reqwest`, or of a middleware behind this one | a retry, if its [verdict](crate::Retryable) allows it |
/// | a 409 to a request with a key, after an attempt that may still run | a retry: that attempt has the key |
/// | a failure of a POST, a PATCH, or a [write with a condition](crate::adapters::http::is_idempotent), such as `If-Match` | a retry only if nothing ran, or with an `Idempotency-Key`, [except in a proxy](HttpRequests::proxy) |
/// | a failure of a gRPC method | a retry only if nothing ran, or if the method may run twice: `GrpcRequests::with_idempotent` |
/// | a failure of a stream, which [`copy`](Requests::copy) cannot copy | no retry: it is sent once |
///
/// - **Limits end at the head of the response.** The body is read after the call, and is not retried. The `timeout` of a stream covers
///   its upload.
/// - **Set the key above the layer**, so that all attempts send the same one.
/// - **A service must be `Clone`**, and each attempt calls a clone. Put a `Buffer` around one that is not.
/// - **Readiness is a part of the attempt.** The layer itself is always ready. No permit is held during a wait or a pause. If the other of
///   two attempts of an outer call has sent a request that may not run twice, the wait for its end is a part of the attempt too.
/// - **A response that is retried is dropped before the wait**, so its stream and its permits are free. A short rest of its body is
///   read, for a connection of HTTP/1.
/// - **A failure without a delay leaves its connection**, such as a 503 without `Retry-After`: a server that shuts down answers it to
///   each attempt on that connection. Not after a 429. The client of `hyper-util` opens another one; of other clients the layer does not
///   know the connection.
/// - **`hedge` of a policy has no effect**: a layer never makes two attempts at a time. Hooks and rules such as `on_retry` need a
///   function: annotate that, and leave the layer out.
///
/// If the compiler says that a method such as `call` exists, but that its trait bounds were not satisfied, write
/// `client.oneshot(request)` in its place. The compiler then says what is missing.
///
/// # What the caller gets
///
/// | the last attempt | the caller gets | a gateway answers |
/// |---|---|---|
/// | had a response | that response, whatever its status | with it |
/// | had an error | that error, in the `BoxError` of a service; unchanged from a middleware | 502 |
/// | was cut by a timeout or a deadline, or did not begin in time | a [`Stopped`](crate::Stopped), whose source is the error of an earlier attempt | 504 |
/// | was in a pause of the budget that leaves no time | a `Stopped` with the outcome `paused` | 503 |
///
/// From a middleware, a `Stopped` is in `Error::Middleware`. With `GrpcRequests`, it is in a `Status` with the code `DeadlineExceeded`, `Unavailable` or `Cancelled`. With
/// [`POLICY.without_limits()`](crate::Policy::without_limits), nothing stops a call: the error of a service is then that of the service
/// below, which is not a box.
///
/// # Where other layers go
///
/// | layer | above: once for a call | below: once for an attempt |
/// |---|---|---|
/// | `Timeout` | limits the call and its waits | limits an attempt, which is retried; prefer `timeout` and `deadline` of the policy, which also count in the time that [`with_attempt_headers`](HttpRequests::with_attempt_headers) or `GrpcRequests` sends |
/// | `ConcurrencyLimit`, `RateLimit` | counts calls, also while they wait for a retry | counts attempts, and takes no permit during a wait. But an attempt without a permit within its `timeout` is refused, so your own queue empties the budget |
/// | `LoadShed` | sheds nothing | sheds an attempt if the service below it, such as a `ConcurrencyLimit`, is not ready: it is refused and so retried |
/// | `Buffer` | works | what a service below does before it returns its future, such as `map_request`, sees no attempt |
/// | `map_request` | sets the key | sees each attempt, above a `Buffer`. [`with_attempt_headers`](HttpRequests::with_attempt_headers) needs none |
/// | `HandleError` of `axum` | turns the error into a response, as `Router::layer` needs it | – |
///
/// # Cancel safety
///
/// Dropping the future of a request drops its attempt, or ends the wait.
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
#[derive(Clone)]
pub struct RetryLayer<Q = HttpRequests, L = Policy> {
    policy: Arc<dyn Fn() -> Policy + Send + Sync>,
    site: SiteSettings<'static>,
    budget: Arc<BudgetFor>,
    pub(crate) requests: Q,
    ends: PhantomData<fn() -> L>,
}

/// Finds the budget of a call, by its policy and its host. `None` leaves it to the policy.
type BudgetFor = dyn Fn(&Policy, &str) -> Option<SharedBudget> + Send + Sync;
type SharedBudget = Arc<dyn BudgetOf + Send + Sync>;

impl RetryLayer {
    /// Retries with a [`Policy`], or with a `&'static` [`Preset`](crate::Preset), which each request reads again.
    ///
    /// With [`POLICY.without_limits()`](Policy::without_limits), nothing stops a call, and the error of a service is that of the
    /// service below. Its type is then `RetryService<S, HttpRequests, WithoutLimits>`.
    #[must_use]
    #[track_caller]
    pub fn new<P>(policy: P) -> RetryLayer<HttpRequests, P::Limits>
    where
        P: PolicyOf + Send + Sync + 'static,
    {
        let place = Location::caller();
        let hosts = &Located::of(place).hosts;
        RetryLayer {
            site: SiteSettings::at(place, policy.policy()),
            policy: Arc::new(move || policy.policy()),
            budget: Arc::new(move |policy, host| {
                policy.has_default_budget().then(|| hosts.of(host) as _)
            }),
            requests: HttpRequests::new(),
            ends: PhantomData,
        }
    }
}

/// A policy, or a layer with more settings.
pub trait IntoLayer {
    #[doc(hidden)]
    type Limits;

    #[doc(hidden)]
    #[track_caller]
    fn into_layer(self) -> RetryLayer<HttpRequests, Self::Limits>;
}

#[diagnostic::do_not_recommend]
impl<P: PolicyOf + Send + Sync + 'static> IntoLayer for P {
    type Limits = P::Limits;

    #[track_caller]
    fn into_layer(self) -> RetryLayer<HttpRequests, P::Limits> {
        RetryLayer::new(self)
    }
}

impl<L> IntoLayer for RetryLayer<HttpRequests, L> {
    type Limits = L;

    fn into_layer(self) -> Self {
        self
    }
}

impl<Q, L> RetryLayer<Q, L> {
    /// Sets what the layer knows of requests, responses and errors. Default: [`HttpRequests::new`].
    #[must_use]
    pub fn with_requests<N>(self, requests: N) -> RetryLayer<N, L> {
        RetryLayer {
            policy: self.policy,
            site: self.site,
            budget: self.budget,
            requests,
            ends: PhantomData,
        }
    }

    /// Sets one budget that bounds the retries to all hosts: a `&'static` [`Budget`](crate::Budget), or one in an `Arc`. Default:
    /// that of the policy. If the policy names none, [one for each host](Self::with_budgets), and none if the attempts are
    /// unlimited.
    #[must_use]
    pub fn with_budget(mut self, budget: impl BudgetOf + Send + Sync + 'static) -> Self {
        let budget: SharedBudget = Arc::new(budget);
        self.budget = Arc::new(move |_, _| Some(Arc::clone(&budget)));
        self
    }

    /// Sets the budgets that bound the retries, one for each host: a `&'static` [`Budgets`], or one in an `Arc`. The key is the
    /// host of the request in lower case, with its port if that is in the URI, such as `api.example.org` or `10.0.0.7:8080`, or what
    /// [`Requests::host`] returns. So a host that is down takes no retries from the others. Default: budgets with the numbers of
    /// [`Budget::new`](crate::Budget::new), for each place in the source that calls [`new`](RetryLayer::new).
    #[must_use]
    pub fn with_budgets<B>(mut self, budgets: B) -> Self
    where
        B: Borrow<Budgets<String>> + Send + Sync + 'static,
    {
        self.budget = Arc::new(move |_, host| Some(budgets.borrow().of(host)));
        self
    }

    setters! {
        /// Sets the name in events, metrics and reports. Default: file, line and column of the call of [`new`](RetryLayer::new).
        /// Layers that are made for each tenant share a name: metrics have series for each.
        with_name(name: &'static str) => site.name = name;

        /// Says whether a request may run twice, as [`Run::with_idempotent`](crate::Run::with_idempotent) does. Default:
        /// [`Requests::is_idempotent`] finds those that may not, and of the others nothing is said.
        with_idempotent(idempotent: bool) => site.idempotent = Some(idempotent);

        /// Sets whether the text of errors stays out of events and spans, whose field `error` is then `(sensitive)`. Of the URL in
        /// the text of an error, they otherwise show scheme, host and path. Default: false.
        with_sensitive(sensitive: bool) => site.sensitive = sensitive;
    }

    /// Whether a request may run twice.
    #[cfg(all(
        feature = "_requests",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    pub(crate) fn is_harmless<N, A>(&self, request: &N) -> bool
    where
        Q: Requests<N, A>,
    {
        let said = self.site.idempotent;
        said.unwrap_or_else(|| self.requests.is_idempotent(request))
    }
}

/// How the calls of a layer end, for an error `E` of the service below: [`Policy`], or [`WithoutLimits`].
pub trait ErrorOfLayer<E> {
    #[doc(hidden)]
    type Cut: Stops<FailedAttempt, ByFrom> + Send;

    /// The error of the service: a box, which can hold a [`Stopped`](crate::Stopped), or `E` if nothing stops a call.
    type Error: HasVerdict;
}

impl<E> ErrorOfLayer<E> for Policy {
    type Cut = Cut;
    type Error = BoxedError;
}

impl<E: HasVerdict> ErrorOfLayer<E> for WithoutLimits {
    type Cut = Never;
    type Error = E;
}

impl<S: Clone, Q: Clone, L: Clone> Layer<S> for RetryLayer<Q, L> {
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
#[derive(Clone)]
pub struct RetryService<S, Q = HttpRequests, L = Policy> {
    inner: S,
    layer: Arc<RetryLayer<Q, L>>,
}

/// The answer to a request.
type Answered<A, X> = Pin<Box<dyn Future<Output = Result<A, X>> + Send>>;

impl<S, Q, L> RetryService<S, Q, L> {
    /// Sends one request, as `oneshot` of `tower::ServiceExt` does. With this one, the compiler says what a service that cannot be
    /// called is missing, such as a body that is `Clone`.
    pub fn oneshot<N, A, X>(mut self, request: N) -> Answered<A, X>
    where
        Self: Service<N, Future = Answered<A, X>>,
    {
        self.call(request)
    }
}

impl<S, Q, L, N> Service<N> for RetryService<S, Q, L>
where
    S: Service<N, Response: Send, Error: HasVerdict, Future: Send> + Clone + Send + 'static,
    Q: Requests<N, S::Response> + Send + Sync + 'static,
    L: ErrorOfLayer<S::Error> + 'static,
    N: Send + 'static,
{
    type Response = S::Response;
    type Error = L::Error;
    type Future = Answered<S::Response, L::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), L::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: N) -> Self::Future {
        let (service, layer) = (self.inner.clone(), Arc::clone(&self.layer));
        Box::pin(RetryLayer::call::<L, _, _>(layer, request, service))
    }
}

opaque! {
    RetryLayer [Q, L] [Q, L];
    RetryService [S, Q, L] [S, Q, L];
}
