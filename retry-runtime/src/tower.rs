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

use ::tower::{Layer, Service};

#[cfg(feature = "_grpc")]
pub use self::grpc::GrpcRequests;
pub use crate::layer::{
    ErrorOfLayer, HttpRequests, RequestBody, Requests, RetryLayer, ServiceError,
};
use crate::opaque::opaque;
use crate::site::Site;

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
        Box::pin(RetryLayer::call::<L, _, _>(layer, request, service))
    }
}

opaque! { RetryService [S, Q, L] [S, Q, L]; }
