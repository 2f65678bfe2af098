//! What is known of requests of HTTP, whatever the client is.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use ::http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Limited};

use super::{Discarding, OwnRequests, Requests};
use crate::adapters::http::StatusError;
use crate::adapters::http::headers::{IDEMPOTENCY_KEY, host_of, may_repeat, note_key, set_headers};
use crate::getters::setters;
use crate::lookup::BoxedError;
use crate::opaque::opaque;

/// Requests of HTTP whose body can be copied, or is a stream that is sent once. A status decides about a response, and `Retry-After`
/// is its hint. The type of an error says whether it is retried.
///
/// A method that is not idempotent, such as POST, and a write with a condition, such as `If-Match`, are retried only if nothing
/// ran, or with the header `Idempotency-Key`; see
/// [`is_idempotent`](crate::adapters::http::is_idempotent).
///
/// Of a response that is retried, a short rest of the body is read, at most 16 KiB and for at most 50 ms, so that its connection
/// can be used again. After a failure without a delay, another connection of `hyper-util` is used: for that, each request captures its
/// own, in place of your `capture_connection`. `reqwest` lets no one leave a connection, so its middleware stays on that of a server
/// that drains, unless the client keeps none: `pool_max_idle_per_host(0)`.
#[derive(Clone, Default)]
pub struct HttpRequests {
    of_proxy: bool,
    sends_headers: bool,
    idempotent: Option<Arc<OfRequest>>,
    refused: Option<Arc<OfResponse<bool>>>,
    delay: Option<Arc<OfResponse<Option<Duration>>>>,
}

type OfRequest = dyn Fn(&Method, &str) -> bool + Send + Sync;
type OfResponse<T> = dyn Fn(StatusCode, &HeaderMap) -> T + Send + Sync;

impl HttpRequests {
    /// For a client that makes its requests itself: a header `Idempotency-Key` says that the server knows keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For a proxy, which passes on the requests of others. A header `Idempotency-Key` is passed on, and makes no request
    /// idempotent: only the client that set it knows whether the server reads it.
    #[must_use]
    pub fn proxy() -> Self {
        Self {
            of_proxy: true,
            ..Self::default()
        }
    }

    /// Describes each attempt to the server: sets the headers of
    /// [`set_attempt_headers`](crate::adapters::http::set_attempt_headers), and so passes the deadline on. The key that it sets makes
    /// no request idempotent: only you know whether the server reads it. [In a proxy](Self::proxy), it sets no key. Default: no headers.
    ///
    /// # Panics
    ///
    /// - The request panics if the operating system gives no randomness for the key.
    #[must_use]
    pub fn with_attempt_headers(mut self) -> Self {
        self.sends_headers = true;
        self
    }

    setters! {
        /// Sets which requests may run twice although their method does not say so, by method and path: a POST that only reads,
        /// such as `|_, path| path == "/search"`. Default: none.
        with_idempotent(Fn(&Method, &str) -> bool) => idempotent;

        /// Sets by which failures the server says that it did not run the request, such as `|status, _| status == 429`. After them,
        /// a POST is retried too. RFC 6585 does not say it of 429, so by default, a failure that is throttled may have run.
        with_refusals(Fn(StatusCode, &HeaderMap) -> bool) => refused;

        /// Waits exactly as long as `delay` says after a response that is retried, without jitter, if it returns a duration. Use it
        /// for headers such as `RateLimit-Reset`. For `None` or zero, the wait is that without it. One above `max_retry_after`, or one that
        /// does not fit the deadline, ends the call. A 403, 409, 413 or 423 with a duration is throttled, as in
        /// [`StatusError::with_retry_after`].
        ///
        /// # Examples
        ///
        /// ```
        /// # mod reattempt { pub use reattempt_runtime::*; pub use reattempt_runtime::tower as tower_0_5; }
        /// use std::time::Duration;
        ///
        /// use reattempt::Policy;
        /// use reattempt::tower_0_5::{HttpRequests, RetryLayer};
        ///
        /// let requests = HttpRequests::new().with_retry_after(|_, headers| {
        ///     let millis = headers.get("retry-after-ms")?.to_str().ok()?;
        ///     Some(Duration::from_millis(millis.parse().ok()?))
        /// });
        /// let retry = RetryLayer::new(Policy::new()).with_requests(requests);
        /// # drop(retry);
        /// ```
        with_retry_after(Fn(StatusCode, &HeaderMap) -> Option<Duration>) => delay;
    }

    pub(crate) fn may_repeat(&self, method: &Method, path: &str, headers: &HeaderMap) -> bool {
        let has_key = !self.of_proxy && headers.contains_key(IDEMPOTENCY_KEY);
        let rule = self.idempotent.as_ref();
        has_key || may_repeat(method, headers) || rule.is_some_and(|rule| rule(method, path))
    }

    pub(crate) fn failed(&self, status: StatusCode, headers: &HeaderMap) -> Option<StatusError> {
        let failure = StatusError::from_parts(status, headers)?;
        // With a delay, a 403 or the like is throttled.
        let failure = match self.delay_after(status, headers) {
            Some(delay) => failure.with_retry_after(delay),
            None => failure,
        };
        let refused = self.is_refused(status, headers);
        Some(if refused { failure.refused() } else { failure })
    }

    /// Whether the server says by this failure that it did not run the request.
    pub(crate) fn is_refused(&self, status: StatusCode, headers: &HeaderMap) -> bool {
        let refused = self.refused.as_ref();
        refused.is_some_and(|refused| refused(status, headers))
    }

    pub(crate) fn delay_after(&self, status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
        (self.delay.as_ref()?)(status, headers)
    }

    pub(crate) fn describe(&self, method: &Method, headers: &mut HeaderMap) {
        if self.sends_headers {
            // A proxy makes no key, as for a GET.
            let method = if self.of_proxy { &Method::GET } else { method };
            set_headers(method, headers);
        } else if !self.of_proxy {
            note_key(headers);
        }
    }

    /// Reads the rest of a body if it is short, so that its connection can be used again.
    pub(crate) async fn read_rest(body: impl Body<Error: Into<BoxedError>>) {
        const LENGTH: u16 = 16 << 10;
        if body.size_hint().lower() <= LENGTH.into() {
            drop(Limited::new(body, LENGTH.into()).collect().await);
        }
    }
}

opaque! { HttpRequests [] []; }

/// The [body](RequestBody) can be copied, or is a stream that is sent once.
impl<B: RequestBody, R: Body<Data: Send, Error: Into<BoxedError>> + Send>
    Requests<Request<B>, Response<R>> for HttpRequests
{
    type Failure = StatusError;

    fn copy(&self, request: Request<B>) -> (Request<B>, Option<Request<B>>) {
        let (head, body) = request.into_parts();
        let copy = body.copy();
        let copy = copy.map(|body| Request::from_parts(head.clone(), body));
        (Request::from_parts(head, body), copy)
    }

    fn is_idempotent(&self, request: &Request<B>) -> bool {
        self.may_repeat(request.method(), request.uri().path(), request.headers())
    }

    // Not `async`: its future would hold the request, which need not be `Sync`.
    fn failure(
        &self,
        _: Option<&Request<B>>,
        response: &mut Response<R>,
    ) -> impl Future<Output = Option<StatusError>> + Send {
        ready(self.failed(response.status(), response.headers()))
    }

    fn host(&self, request: &Request<B>) -> Option<String> {
        Some(host_of(request.uri().authority()?.as_str()))
    }

    fn delay(&self, _: Option<&Request<B>>, response: &Response<R>) -> Option<Duration> {
        self.delay_after(response.status(), response.headers())
    }

    fn own(&self) -> &(dyn OwnRequests<Request<B>, Response<R>> + Sync) {
        self
    }
}

#[doc(hidden)]
impl<B, R: Body<Data: Send, Error: Into<BoxedError>> + Send> OwnRequests<Request<B>, Response<R>>
    for HttpRequests
{
    fn sends(&self, request: &mut Request<B>) {
        self.describe(&request.method().clone(), request.headers_mut());
    }

    #[cfg(all(
        feature = "hyper-1",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    fn leaves(&self, request: &mut Request<B>) -> Option<Box<dyn Fn() + Send>> {
        let captured = hyper_util::client::legacy::connect::capture_connection(request);
        Some(Box::new(move || {
            let connection = captured.connection_metadata();
            connection.as_ref().inspect(|connected| connected.poison());
        }))
    }

    fn discard<'r>(&self, response: Response<R>) -> Discarding<'r>
    where
        R: 'r,
    {
        Box::pin(Self::read_rest(response.into_body()))
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
