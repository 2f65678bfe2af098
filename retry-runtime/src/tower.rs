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

#[cfg(feature = "_grpc")]
mod grpc;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use ::http::{Request, Response};
use ::http_body::Body;
use tower_layer::Layer;
use tower_service::Service;

#[cfg(feature = "_grpc")]
pub use self::grpc::GrpcRequests;
use crate::adapters::http::StatusError;
use crate::adapters::http::headers::host_of;
use crate::call::{Cut, Never, Stops};
use crate::layer::{FailedAttempt, read_rest};
pub use crate::layer::{HttpRequests, Requests, RetryLayer, ServiceError};
use crate::lookup::BoxedError;
use crate::opaque::opaque;
use crate::result::ByFrom;
use crate::site::{Site, SiteSettings};

/// The [body](RequestBody) can be copied, or is a stream that is sent once.
impl<B: RequestBody, R: Body + Send> Requests<Request<B>, Response<R>> for HttpRequests {
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

    async fn failure(&self, response: &mut Response<R>) -> Option<StatusError> {
        self.failed(response.status(), response.headers())
    }

    fn host(&self, request: &Request<B>) -> Option<String> {
        Some(host_of(request.uri().authority()?.as_str()))
    }

    fn sends(&self, request: &mut Request<B>) {
        self.describe(&request.method().clone(), request.headers_mut());
    }

    fn delay(&self, response: &Response<R>) -> Option<Duration> {
        self.delay_after(response.status(), response.headers())
    }

    async fn discard(&self, response: Response<R>) {
        read_rest(response.into_body()).await;
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
pub struct RetryService<S, Q = HttpRequests, L = Site<true>> {
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
    S: Service<N, Response: Send, Error: ServiceError, Future: Send> + Clone + Send + 'static,
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
        let for_caller = ServiceError::from_box;
        Box::pin(RetryLayer::call::<L::Cut, _, _, _>(
            layer, request, service, for_caller,
        ))
    }
}

/// How the calls of a layer end. A site with limits has an error that can be a [`Stopped`](crate::Stopped).
#[doc(hidden)]
pub trait ErrorOfLayer<E> {
    type Cut: Stops<FailedAttempt, ByFrom> + Send;
    type Error: ServiceError;
}

impl<E> ErrorOfLayer<E> for Site<true> {
    type Cut = Cut;
    type Error = BoxedError;
}

impl<E: ServiceError> ErrorOfLayer<E> for SiteSettings<'static> {
    type Cut = Never;
    type Error = E;
}

opaque! { RetryService [S, Q, L] [S, Q, L]; }
