//! The requests of a client as calls: the settings and the loop of the layer of `tower` and of the middleware of
//! `reqwest-middleware`.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt;
use std::future::{poll_fn, ready};
use std::marker::PhantomData;
use std::ops::ControlFlow::{Break, Continue};
use std::panic::Location;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::http_body::Body;

use crate::adapters::known;
use crate::budget::{Budget, Budgets};
use crate::call::{Call, Judgement, Stops, unless};
use crate::classify::{Assessment, Retryable, Ruling, Verdict};
use crate::lookup::{BoxedError, Kept, write_chain};
use crate::policy::Policy;
use crate::result::FromStopped;
use crate::site::{BudgetOf, PolicyOf, SiteSettings};
use crate::stopped::Stopped;

/// What a [`RetryLayer`](crate::tower::RetryLayer) has to know of the requests `Q` of a service, of its responses `A` and of its
/// errors `E`.
///
/// [`HttpRequests`](crate::tower::HttpRequests) is for requests of HTTP that are `Clone`, and `GrpcRequests` for gRPC, with the
/// feature `tonic`. Write your own for any other request.
///
/// # Examples
///
/// A client whose body has a method that copies it:
///
/// ```
/// use std::io;
/// use std::time::Duration;
///
/// use http::{Request, Response};
/// use reattempt::http_1::{StatusError, is_idempotent};
/// use reattempt::tower_0_5::Requests;
/// use reattempt::{Retryable as _, Verdict};
/// # struct Body;
/// # impl Body { fn try_clone(&self) -> Option<Self> { Some(Self) } }
/// # mod reattempt { pub use reattempt_runtime::{Retryable, Verdict, adapters::http as http_1, tower as tower_0_5}; }
///
/// struct OwnRequests;
///
/// impl<B: Send> Requests<Request<Body>, Response<B>, io::Error> for OwnRequests {
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
///         is_idempotent(request.method(), request.headers())
///     }
///
///     fn error(&self, error: &io::Error) -> Option<(Verdict, Option<Duration>)> {
///         Some((error.verdict(), error.hint()))
///     }
///
///     async fn failure(&self, response: &mut Response<B>) -> Option<StatusError> {
///         StatusError::from_parts(response.status(), response.headers())
///     }
///
///     fn host<'q>(&self, request: &'q Request<Body>) -> &'q str {
///         request.uri().host().unwrap_or_default()
///     }
/// }
/// ```
pub trait Requests<Q, A, E> {
    /// The error that a response stands for.
    type Failure: StdError + Retryable + Send + Sync + 'static;

    /// Copies the request for a later attempt. With `None`, the call has one attempt. What could be copied once has to be copied
    /// again.
    fn copy(&self, request: &mut Q) -> Option<Q>;

    /// Returns whether the request may run twice. If not, it is retried only after a failure without effect.
    fn is_idempotent(&self, request: &Q) -> bool;

    /// Returns what failed, or `None` if the response is a success. It is asked in the attempt, and may read the body, if it puts
    /// another one in its place. The response is retried if its verdict allows that, and else returned.
    fn failure(&self, response: &mut A) -> impl Future<Output = Option<Self::Failure>> + Send;

    /// Returns the verdict of an error of the service, and the delay that it asks for. Default: `None`, so the errors that this crate
    /// knows are searched, along the chain of sources.
    fn error(&self, _error: &E) -> Option<(Verdict, Option<Duration>)> {
        None
    }

    /// Returns the host of the request, whose [budget](crate::tower::RetryLayer::with_budgets) bounds its retries. Default: one for
    /// all requests.
    fn host<'q>(&self, _request: &'q Q) -> &'q str {
        ANY_HOST
    }

    /// Returns how long the call may take, if the request says so. It shortens the deadline of the policy. Default: `None`.
    fn deadline(&self, _request: &Q) -> Option<Duration> {
        None
    }

    /// Prepares what an attempt sends, such as its headers. It runs in the attempt. Default: nothing.
    fn sends(&self, _request: &mut Q) {}

    /// Returns how long exactly to wait after a response that is retried, without jitter. Default: `None`, so the delay is that of
    /// the policy, and of the hint.
    fn delay(&self, _response: &A) -> Option<Duration> {
        None
    }

    /// Drops a response that is retried, before the wait. To keep its connection, it may read the rest of the body for at most
    /// 50 ms. Then it is dropped itself. Default: drops the response.
    fn discard(&self, response: A) -> impl Future<Output = ()> + Send {
        drop(response);
        ready(())
    }

    /// Turns the error of a layer with limits into the one for the caller. Default: the same.
    fn for_caller(&self, error: BoxedError) -> BoxedError {
        error
    }
}

/// Reads the rest of a body if it is short, so that its connection can be used again.
pub(crate) async fn read_rest(body: impl Body) {
    const LENGTH: u64 = 16 << 10;
    const FRAMES: usize = 16;
    let mut body = pin!(body);
    if body.size_hint().lower() > LENGTH {
        return;
    }
    for _ in 0..FRAMES {
        let frame = poll_fn(|context| body.as_mut().poll_frame(context)).await;
        if !matches!(frame, Some(Ok(_))) {
            break;
        }
    }
}

/// Stands for a host that is not known. It is not empty, because to compare two empty texts takes 100 ns on some machines.
pub(crate) const ANY_HOST: &str = "*";

/// How long the rest of a response is read. A server that sends a short one has sent it with the head.
const REST: Duration = Duration::from_millis(50);

#[derive(Clone)]
pub(crate) struct ClientSettings {
    policy: Arc<dyn Fn() -> Policy + Send + Sync>,
    pub(crate) site: SiteSettings<'static>,
    pub(crate) budget: ClientBudget,
    pub(crate) silent: bool,
}

#[derive(Clone)]
pub(crate) enum ClientBudget {
    /// One of these for each host, unless the policy says otherwise.
    OfPolicy(&'static Budgets<String>),
    One(Arc<dyn BudgetOf + Send + Sync>),
    OfHosts(Arc<dyn Borrow<Budgets<String>> + Send + Sync>),
}

impl ClientSettings {
    #[track_caller]
    pub(crate) fn new(policy: impl PolicyOf + Send + Sync + 'static) -> Self {
        type ByPlace = BTreeMap<&'static Location<'static>, &'static Budgets<String>>;
        static PLACES: Mutex<ByPlace> = Mutex::new(BTreeMap::new());
        let place = Location::caller();
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        let hosts = places
            .entry(place)
            .or_insert_with(|| Box::leak(Box::default()));
        Self {
            site: SiteSettings::at(place, policy.policy()),
            policy: Arc::new(move || policy.policy()),
            budget: ClientBudget::OfPolicy(hosts),
            silent: false,
        }
    }

    /// Whether a response with this verdict is an error of the attempt.
    fn is_failure(&self, verdict: Verdict) -> bool {
        let unknown = verdict == Verdict::Unknown && self.site.idempotent == Some(true);
        verdict.is_retryable() || unknown
    }

    /// The budget of the request's host, unless one is set for all hosts.
    fn of_host(&self, policy: &Policy, host: &str) -> Option<Arc<Budget>> {
        match &self.budget {
            ClientBudget::OfPolicy(hosts) => policy.has_default_budget().then(|| hosts.of(host)),
            ClientBudget::One(_) => None,
            ClientBudget::OfHosts(hosts) => Some((**hosts).borrow().of(host)),
        }
    }
}

/// Why an attempt failed: the error of the service, or what its response stands for. Or what stopped the call.
#[derive(Debug)]
pub struct FailedAttempt {
    pub(crate) error: BoxedError,
    assessment: Assessment,
    sent_once: bool,
}

impl FailedAttempt {
    /// `answer` is what the error says of itself. If it says nothing, its sources are asked.
    fn new(
        error: impl Into<BoxedError>,
        answer: Option<(Verdict, Option<Duration>)>,
        sent_once: bool,
    ) -> Self {
        let error = error.into();
        let answer = answer.map(|(verdict, hint)| Assessment { verdict, hint });
        Self {
            assessment: answer.unwrap_or_else(|| known::assessment(&*error)),
            error,
            sent_once,
        }
    }
}

impl FromStopped<()> for FailedAttempt {
    fn from_stopped(stopped: Stopped) -> Self {
        Self::new(stopped, None, false)
    }
}

/// As the source of a [`Stopped`].
impl From<FailedAttempt> for BoxedError {
    fn from(failed: FailedAttempt) -> Self {
        failed.error
    }
}

/// For events.
impl fmt::Display for FailedAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_chain(&*self.error, f)?;
        let once = " (the request cannot be copied, so it is sent once)";
        f.write_str(if self.sent_once { once } else { "" })
    }
}

/// Makes the call of one request: sends it and copies of it until it succeeds, or until there is a reason to stop.
///
/// A response that is retried is dropped before the wait. What the wait needs of it was read before.
pub(crate) async fn repeat<C, Q, N, A, E, F>(
    settings: &ClientSettings,
    requests: &Q,
    mut request: N,
    mut send: impl FnMut(N) -> F,
) -> Result<A, BoxedError>
where
    C: Stops<FailedAttempt, ()>,
    Q: Requests<N, A, E>,
    E: Into<BoxedError>,
    F: Future<Output = Result<A, E>>,
{
    let mut copy = requests.copy(&mut request);
    let sent_once = copy.is_none();
    let mut site = settings.site.clone();
    site.policy = (settings.policy)();
    if settings.silent {
        site = site.with_policy(|policy| policy.with_silent(true));
    }
    if sent_once {
        site = site.with_policy(|policy| policy.with_attempts(1));
    }
    if let Some(left) = requests.deadline(&request) {
        let left = site.policy.deadline().map_or(left, |own| own.min(left));
        site = site.with_policy(|policy| policy.with_deadline(left));
    }
    let of_host = settings.of_host(&site.policy, requests.host(&request));
    if site.idempotent.is_none() && !requests.is_idempotent(&request) {
        site = site.with_idempotent(false);
    }
    let site = match (&settings.budget, &of_host) {
        (ClientBudget::One(budget), _) => site.with_budget(budget.budget()),
        (_, Some(budget)) => site.with_budget(Some(budget)),
        _ => site,
    };
    let mut call = Call::<C, Kept<FailedAttempt>>::with(&site);
    let (mut next, mut answer) = (Some(request), None);
    let ended = 'call: loop {
        while let Some(at) = match call.pause() {
            Ok(at) => at,
            Err(cut) => break 'call call.cut_between(cut),
        } {
            at.wait().await;
        }
        let request = next.take().or_else(|| {
            let again = copy.as_mut().and_then(|copy| requests.copy(copy));
            again.or_else(|| copy.take())
        });
        let attempt = async {
            let mut request = request.expect("a request without a copy has one attempt");
            requests.sends(&mut request);
            let mut response = send(request).await.map_err(|error| {
                let answer = requests.error(&error);
                FailedAttempt::new(error, answer, sent_once)
            })?;
            match requests.failure(&mut response).await {
                Some(failure) if settings.is_failure(failure.verdict()) => {
                    answer = Some(response);
                    let own = (failure.verdict(), failure.hint());
                    Err(FailedAttempt::new(failure, Some(own), sent_once))
                }
                _ => Ok(response),
            }
        };
        let ended = call.attempt(attempt).await;
        call.retry_after(&ended, |_| {
            answer.as_ref().and_then(|answer| requests.delay(answer))
        });
        let decided = call.settle_with(
            ended,
            |failed| Judgement {
                ruling: Ruling::by(failed.error().assessment),
                words: failed.words(),
                keeps: PhantomData,
            },
            |_| (),
        );
        let at = match decided {
            Continue(at) => at,
            Break(ended) => break ended,
        };
        if let Some(answer) = answer.take() {
            unless(pin!(at.at_most(REST).wait()), requests.discard(answer)).await;
        }
        at.wait().await;
    };
    // The answer of the last attempt is that of the call.
    ended.or_else(|failed| answer.ok_or(failed.error))
}

/// The methods that the layer and the middleware share, for a type with the field `settings`.
macro_rules! client_setters {
    () => {
        /// Sets the name in events, metrics and reports. Default: file, line and column of the call of [`new`](Self::new). A `String`
        /// is kept until the program ends.
        #[must_use]
        pub fn with_name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
            let name = match name.into() {
                Cow::Borrowed(name) => name,
                Cow::Owned(name) => name.leak(),
            };
            self.settings.site = self.settings.site.with_name(name);
            self
        }

        /// Sets one budget that bounds the retries to all hosts: a `&'static` [`Budget`](crate::Budget), or one in an `Arc`.
        /// Default: that of the policy. If the policy names none, [one for each host](Self::with_budgets), and none if the attempts
        /// are unlimited.
        #[must_use]
        pub fn with_budget(mut self, budget: impl BudgetOf + Send + Sync + 'static) -> Self {
            self.settings.budget = ClientBudget::One(Arc::new(budget));
            self
        }

        /// Sets the budgets that bound the retries, one for each host: a `&'static` [`Budgets`], or one in an `Arc`. The key is the
        /// host of the request, with its port if that is in the URI, such as `api.example.org` or `10.0.0.7:8080`, or what
        /// `Requests::host` returns. So a host that is down takes no retries from the
        /// others. Default: budgets with the numbers of [`Budget::new`](crate::Budget::new), for each place in the source that calls
        /// [`new`](Self::new).
        #[must_use]
        pub fn with_budgets<B>(mut self, budgets: B) -> Self
        where
            B: Borrow<Budgets<String>> + Send + Sync + 'static,
        {
            self.settings.budget = ClientBudget::OfHosts(Arc::new(budgets));
            self
        }

        /// Says whether a request may run twice, as [`Run::with_idempotent`](crate::Run::with_idempotent) does. Default:
        /// `Requests::is_idempotent` finds those that may not, and of the others
        /// nothing is said.
        #[must_use]
        pub fn with_idempotent(mut self, idempotent: bool) -> Self {
            self.settings.site = self.settings.site.with_idempotent(idempotent);
            self
        }

        /// Sets whether the text of errors stays out of events and spans, whose field `error` is then `(sensitive)`. Of the URL in
        /// the text of an error, they otherwise show scheme, host and path. Default: false.
        #[must_use]
        pub fn with_sensitive(mut self, sensitive: bool) -> Self {
            self.settings.site = self.settings.site.with_sensitive(sensitive);
            self
        }

        /// Sets whether requests write no event, as [`Policy::with_silent`](crate::Policy::with_silent) does. Default: that of the
        /// policy.
        #[must_use]
        pub fn with_silent(mut self, silent: bool) -> Self {
            self.settings.silent = silent;
            self
        }
    };
}

pub(crate) use client_setters;
