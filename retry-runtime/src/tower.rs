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
#[cfg(feature = "_grpc")]
mod grpc;
mod http;

use std::borrow::Borrow;
use std::error::Error as StdError;
use std::fmt;
use std::future::{poll_fn, ready};
use std::marker::PhantomData;
use std::ops::ControlFlow::{Break, Continue};
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use ::tower::{Layer, Service};

use self::answer::{Received, Sending};
#[cfg(feature = "_grpc")]
pub use self::grpc::GrpcRequests;
pub use self::http::{HttpRequests, RequestBody};
use crate::adapters::known;
use crate::budget::Budgets;
use crate::call::{AsksDelay, Call, Cut, Judgement, Limits, Never, Stops, unless};
use crate::classify::{Assessment, Retryable, Ruling, Verdict};
use crate::context::{Ended, begin_outside};
use crate::faulty::faulty;
use crate::getters::setters;
use crate::lookup::{BoxedError, Kept, write_chain};
use crate::opaque::opaque;
use crate::policy::Policy;
use crate::result::ByFrom;
use crate::run::WithoutLimits;
use crate::site::{BudgetOf, Located, PolicyOf, SiteSettings};
use crate::stopped::{Effect, Outcome, Stopped};

/// What a [`RetryLayer`] has to know of the requests `Q` of a client, and of its responses `A`. An error of the client
/// [has a verdict itself](HasVerdict).
///
/// [`HttpRequests`] is for requests of HTTP, and `GrpcRequests` for gRPC, with the feature `tonic-0_14` or `tonic-0_13`. Write your own for any other
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

    /// Returns the host of the request, whose [budget](RetryLayer::with_budgets) bounds its retries. Default: `None`, so all
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

/// What [`HttpRequests`] and `GrpcRequests` do beside. Requests of users have the defaults.
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

/// A `Stopped` says so if the request that it cut is in doubt.
fn said_in_doubt(error: BoxedError, in_doubt: bool) -> BoxedError {
    if !in_doubt {
        return error;
    }
    match error.downcast::<Stopped>() {
        Ok(stopped) => stopped.cutting(Effect::Request).into(),
        Err(error) => error,
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
pub trait HasVerdict: Into<BoxedError> {
    #[doc(hidden)]
    fn assessment(&self) -> Assessment;

    /// Takes the error of a call that nothing but the service can end.
    #[doc(hidden)]
    fn from_box(error: BoxedError) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: Retryable + StdError + Send + Sync + 'static> HasVerdict for E {
    fn assessment(&self) -> Assessment {
        Assessment::of(self)
    }

    fn from_box(error: BoxedError) -> Self {
        let own = error.downcast();
        *own.expect("nothing stops the call, so it is the error of the service")
    }
}

impl HasVerdict for BoxedError {
    fn assessment(&self) -> Assessment {
        known::assessment(&**self)
    }

    fn from_box(error: BoxedError) -> Self {
        error
    }
}

/// Stands for a host that is not known. It is not empty, because to compare two empty texts takes 100 ns on some machines.
const ANY_HOST: &str = "*";

/// How long the rest of a response is read. A server that sends a short one has sent it with the head.
const REST: Duration = Duration::from_millis(50);

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
/// | an error of `reqwest`, or of a middleware behind this one | a retry, if its [verdict](Retryable) allows it |
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
/// | was cut by a timeout or a deadline, or did not begin in time | a [`Stopped`], whose source is the error of an earlier attempt | 504 |
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

    /// The policy of a call that has at most this time left.
    fn policy_within(&self, left: Option<Duration>) -> Policy {
        let policy = (self.policy)();
        let deadline = policy.deadline().into_iter().chain(left).min();
        policy.with_optional_deadline(deadline)
    }

    /// Makes the call of one request: sends it and copies of it to clones of the service until it succeeds, or until there is a
    /// reason to stop. Each attempt waits until its clone is ready.
    ///
    /// A response that is retried is dropped before the wait. What the wait needs of it was read before.
    pub(crate) async fn call<E, N, S>(
        layer: impl Borrow<Self>,
        request: N,
        service: S,
    ) -> Result<S::Response, E::Error>
    where
        E: ErrorOfLayer<S::Error>,
        Q: Requests<N, S::Response>,
        S: Service<N, Response: 'static, Error: HasVerdict + 'static> + Clone,
    {
        let layer = layer.borrow();
        let (requests, own) = (&layer.requests, layer.requests.own());
        let policy = layer.policy_within(own.deadline(&request));
        let host = requests.host(&request);
        let budget = (layer.budget)(&policy, host.as_deref().unwrap_or(ANY_HOST));
        let mut site = layer.site.clone();
        site.policy = policy;
        if let Some(budget) = &budget {
            site = site.with_budget(budget.budget());
        }
        if !requests.is_idempotent(&request) {
            site.idempotent.get_or_insert(false);
        }
        let mut sending = Sending::of(requests.copy(request));
        let streamed = sending.is_stream();
        if streamed {
            site.policy = site.policy.with_attempts(1);
        }
        let harmless = site.idempotent == Some(true);
        let once = site.idempotent == Some(false);
        let described = |failed: FailedAttempt| failed.described(host.clone(), streamed, once);
        let for_caller = |failed: FailedAttempt, in_doubt| {
            let error = said_in_doubt(failed.error, in_doubt);
            E::Error::from_box(if E::Cut::LIMITED {
                own.for_caller(error)
            } else {
                error
            })
        };
        let mut call = Call::<E::Cut, Kept<FailedAttempt>>::with(&site);
        let mut in_doubt = false;
        loop {
            if let Err(cut) = call.pass_pause().await {
                let stopped: Result<_, FailedAttempt> = call.cut_between(cut);
                return stopped.map_err(|failed| for_caller(failed, in_doubt));
            }
            let mut service = service.clone();
            let (mut open, mut leave) = (None, None);
            let attempt = async {
                if once {
                    // No outer attempt is repeated that has sent it, unless it had no effect.
                    open = Some(begin_outside(Effect::Request).await);
                }
                poll_fn(|context| service.poll_ready(context)).await?;
                let mut request = sending.send();
                own.sends(&mut request);
                leave = own.leaves(&mut request);
                let mut response = faulty!(fault_of_service().await, service.call(request).await)?;
                let failure = requests.failure(sending.copy(), &mut response).await;
                Ok::<_, FailedAttempt>((response, failure.map(FailedAttempt::from)))
            };
            let answer = match call.attempt(attempt).await {
                Ok(Ok((response, failure))) => Received::Response(response, failure),
                Ok(Err(failed)) if own.timed_out(&failed.error) => {
                    Received::TimedOut(failed, call.state.cut_by_client())
                }
                Ok(Err(failed)) => Received::Error(failed),
                Err(cut) if !sending.is_sent() && cut.into() == Cut::Timeout => {
                    Received::NotReady(call.state.stopped(Outcome::Timeout, Cut::Timeout))
                }
                Err(cut) => Received::Cut(cut),
            };
            // It may hold a permit.
            drop(service);
            let ended = if sending.is_sent() {
                answer.ended()
            } else {
                Ended::Known
            };
            in_doubt = open.is_some() && ended == Ended::InDoubt;
            open.inspect(|open| open.end(ended));
            let (ended, response) = answer.settles(harmless);
            let elsewhere = matches!(&ended, Ok(Err(failed)) if is_elsewhere(failed.assessment));
            let delay = |_: Option<&_>| delay_after(requests, &sending, response.as_ref());
            let decided = call.settle_with(
                ended.map(|sent| sent.map_err(described)),
                |failed| Judgement {
                    ruling: Ruling::by(failed.error().assessment, harmless),
                    words: failed.error(),
                    keeps: |failed| E::Cut::LIMITED.then_some(Kept(failed)),
                },
                (AsksDelay::RetryAfter, delay),
                |_| (),
            );
            let at = match (decided, response) {
                // The response of the last attempt is that of the call.
                (Break(Err(_)), Some(response)) => return Ok(response),
                (Break(ended), _) => return ended.map_err(|failed| for_caller(failed, in_doubt)),
                (Continue(at), None) => at,
                (Continue(at), Some(response)) => {
                    leave.filter(|_| elsewhere).inspect(|leave| leave());
                    let rest = pin!(at.into_future().at_most(REST));
                    unless(rest, own.discard(response)).await;
                    at
                }
            };
            at.await;
            sending = Sending::of(requests.copy(sending.again()));
        }
    }
}

/// How long to wait exactly after a response that is retried.
fn delay_after<Q, N, A>(
    requests: &Q,
    sending: &Sending<N>,
    response: Option<&A>,
) -> Option<Duration>
where
    Q: Requests<N, A>,
{
    // A server that says zero in the last second of a limit shall not get requests without a wait.
    (requests.delay(sending.copy(), response?)).filter(|delay| !delay.is_zero())
}

/// Whether another server may answer better than the one that failed so.
fn is_elsewhere(failed: Assessment) -> bool {
    failed.verdict == Verdict::Transient && failed.hint.is_none()
}

/// How the calls of a layer end, for an error `E` of the service below: [`Policy`], or [`WithoutLimits`].
pub trait ErrorOfLayer<E> {
    #[doc(hidden)]
    type Cut: Stops<FailedAttempt, ByFrom> + Send;

    /// The error of the service: a box, which can hold a [`Stopped`], or `E` if nothing stops a call.
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

/// Why an attempt failed: the error of the service, or what its response stands for. Or what stopped the call.
#[derive(Debug)]
#[doc(hidden)]
pub struct FailedAttempt {
    error: BoxedError,
    assessment: Assessment,
    host: Option<String>,
    /// Why there is no second attempt.
    once: &'static str,
}

impl FailedAttempt {
    fn verdict(&self) -> Verdict {
        self.assessment.verdict
    }

    /// As events name it, with the reason if its request is sent once: it is a stream, or it may not run twice.
    fn described(self, host: Option<String>, streamed: bool, once: bool) -> Self {
        let once = match self.verdict() {
            _ if streamed => " (the request cannot be copied, so it is sent once)",
            Verdict::Refused | Verdict::Conflict => "",
            _ if once => " (the request may not run twice)",
            _ => "",
        };
        Self { host, once, ..self }
    }
}

/// From the error of a service, what a response stands for, or a `Stopped`.
impl<E: HasVerdict> From<E> for FailedAttempt {
    fn from(error: E) -> Self {
        Self {
            assessment: error.assessment(),
            error: error.into(),
            host: None,
            once: "",
        }
    }
}

/// As the source of a `Stopped`.
impl From<FailedAttempt> for BoxedError {
    fn from(failed: FailedAttempt) -> Self {
        failed.error
    }
}

/// For events.
impl fmt::Display for FailedAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(host) = &self.host {
            write!(f, "{host}: ")?;
        }
        write_chain(&*self.error, f)?;
        f.write_str(self.once)
    }
}
