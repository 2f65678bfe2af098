//! A layer for servers: the handler of a request has the deadline that its client sent.

use std::task::{Context, Poll};
use std::time::Duration;

use ::http::{HeaderMap, Request};
use ::tower::{Layer, Service};

use super::headers::{GRPC, MILLIS};
use crate::deadline::{DeadlineScope, scope_if};

/// A `tower` layer for servers, such as those of `axum`, `hyper` and `tonic`: runs the handler of each request in a
/// [`deadline::scope`](crate::deadline::scope()).
///
/// The deadline is the nearest of these, counted from the moment when the layer gets the request:
///
/// - the header `grpc-timeout`, which clients of gRPC send;
/// - the header [`TIMEOUT_MS`](super::TIMEOUT_MS) (`x-timeout-ms`), which [`set_attempt_headers`](super::set_attempt_headers) sends;
/// - the time of [`with_max`](Self::with_max).
///
/// So a client can shorten the time and never lengthen it. Without any of them there is no deadline. A header of another
/// form is ignored, and an event of level debug says so.
///
/// Annotated functions in the handler end in time, and send the time that is left to the next service. The handler itself
/// is not cut, and answers with what it makes of their error. To cut it too, add a timeout layer such as that of
/// `tower-http`. A body that the server streams after the handler has returned is outside of the deadline, and so is a
/// spawned task without [`propagate`](crate::propagate()).
///
/// # Cancel safety
///
/// Dropping the future of a request drops its handler.
///
/// # Examples
///
/// ```
/// # mod reattempt { pub use reattempt_runtime::{adapters::http as http_1, deadline}; }
/// use std::convert::Infallible;
/// use std::time::Duration;
///
/// use http::Request;
/// use reattempt::deadline;
/// use reattempt::http_1::DeadlineLayer;
/// use tower::{Layer as _, ServiceExt as _, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// // In axum: `Router::new().route(…).layer(DeadlineLayer::new().with_max(Duration::from_secs(10)))`.
/// let handler = service_fn(async |_: Request<()>| Ok::<_, Infallible>(deadline::remaining()));
/// let service = DeadlineLayer::new().with_max(Duration::from_secs(10)).layer(handler);
///
/// let request = Request::get("/offer").header("x-timeout-ms", "700").body(()).unwrap();
/// let left = service.oneshot(request).await.unwrap();
/// assert!(left.unwrap() <= Duration::from_millis(700));
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct DeadlineLayer {
    max: Option<Duration>,
}

impl DeadlineLayer {
    /// Makes a layer that keeps the deadlines of clients.
    #[must_use]
    pub const fn new() -> Self {
        Self { max: None }
    }

    /// Sets how long a handler may take at most, whatever the client sends. Default: no limit.
    #[must_use]
    pub const fn with_max(self, max: Duration) -> Self {
        Self { max: Some(max) }
    }

    fn allowed(self, headers: &HeaderMap) -> Option<Duration> {
        let sent = [GRPC.read(headers), MILLIS.read(headers), self.max];
        sent.into_iter().flatten().min()
    }
}

impl<S> Layer<S> for DeadlineLayer {
    type Service = DeadlineService<S>;

    fn layer(&self, inner: S) -> DeadlineService<S> {
        DeadlineService {
            inner,
            layer: *self,
        }
    }
}

/// The service that [`DeadlineLayer`] makes.
#[derive(Debug, Clone)]
pub struct DeadlineService<S> {
    inner: S,
    layer: DeadlineLayer,
}

impl<S, B> Service<Request<B>> for DeadlineService<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = DeadlineScope<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let allowed = self.layer.allowed(request.headers());
        // A handler may begin before its future is polled.
        scope_if(allowed, || self.inner.call(request))
    }
}
