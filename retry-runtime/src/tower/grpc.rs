//! Requests of gRPC.

use std::collections::VecDeque;
use std::error::Error as StdError;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use ::http::{Request, Response};
use ::hyper::body::{Body as HttpBody, Bytes, Frame};
use ::tonic::body::Body;
use ::tonic::metadata::MetadataMap;
use ::tonic::{Code, Status, TimeoutExpired};

use super::{Requests, with_body};
use crate::adapters::http::headers::GRPC;
use crate::adapters::known::links;
use crate::classify::Verdict;
use crate::deadline;
use crate::lookup::BoxedError;
use crate::opaque::opaque;
use crate::stopped::{Outcome, Stopped};

/// Requests of gRPC, for the `Channel` of `tonic`: `RetryLayer::new(POLICY).with_requests(GrpcRequests::new())`.
///
/// The status in the head of a response decides, as tonic servers send it for a call without messages in its answer, and so do its
/// hints, such as `RetryInfo`. A status that comes after messages is the caller's. A request whose body is not complete at once is
/// a stream, and sent once.
///
/// A `grpc-timeout` on a request is its deadline, and each attempt sends what is left of the time. The layer adds none to a request
/// without one.
///
/// Of an error below, only the errors that this crate knows count, along the chain of sources. So a service of your own below the
/// layer fails with a `Status`, such as by `.map_err(…)`.
///
/// # Examples
///
/// ```
/// # mod reattempt { pub use reattempt_runtime::*; pub use reattempt_runtime::tower as tower_0_5; }
/// use reattempt::Policy;
/// use reattempt::tower_0_5::{GrpcRequests, RetryLayer};
///
/// const POLICY: Policy = Policy::new().with_attempts(4);
///
/// // `HealthClient::new(retry.layer(channel))`
/// let reads = GrpcRequests::new().with_idempotent(|path| path.ends_with("/Check"));
/// let retry = RetryLayer::new(POLICY).with_requests(reads);
/// ```
#[derive(Clone, Default)]
pub struct GrpcRequests {
    idempotent: Option<Arc<OfPath>>,
}

type OfPath = dyn Fn(&str) -> bool + Send + Sync;

impl GrpcRequests {
    /// Retries only what provably did not run.
    #[must_use]
    pub const fn new() -> Self {
        Self { idempotent: None }
    }

    /// Sets which methods may run twice, by their path, such as `/grpc.health.v1.Health/Check`. Default: none.
    #[must_use]
    pub fn with_idempotent<P>(mut self, idempotent: P) -> Self
    where
        P: Fn(&str) -> bool + Send + Sync + 'static,
    {
        self.idempotent = Some(Arc::new(idempotent));
        self
    }
}

opaque! { GrpcRequests [] []; }

impl<R: Send, E> Requests<Request<Body>, Response<R>, E> for GrpcRequests {
    type Failure = Status;

    fn copy(&self, request: &mut Request<Body>) -> Option<Request<Body>> {
        let body = copy_of(request.body_mut())?;
        Some(with_body(request, body))
    }

    fn is_idempotent(&self, request: &Request<Body>) -> bool {
        let rule = self.idempotent.as_ref();
        rule.is_some_and(|rule| rule(request.uri().path()))
    }

    async fn failure(&self, response: &mut Response<R>) -> Option<Status> {
        if let Some(status) = Status::from_header_map(response.headers()) {
            return Some(status).filter(|status| status.code() != Code::Ok);
        }
        // A proxy answered: "HTTP to gRPC Status Code Mapping" of the gRPC project.
        let code = match response.status().as_u16() {
            // A success, or permanent: the caller gets the response, of which `tonic` makes the status.
            200 | 401 | 403 | 404 => return None,
            429 | 502 | 503 | 504 => Code::Unavailable,
            _ => Code::Unknown,
        };
        let text = format!("the response is a failure ({})", response.status().as_u16());
        let metadata = MetadataMap::from_headers(response.headers().clone());
        Some(Status::with_metadata(code, text, metadata))
    }

    fn error(&self, _: &E) -> Option<(Verdict, Option<Duration>)> {
        None
    }

    /// The service, such as `grpc.health.v1.Health`.
    fn host<'q>(&self, request: &'q Request<Body>) -> &'q str {
        request.uri().path().split('/').nth(1).unwrap_or_default()
    }

    fn deadline(&self, request: &Request<Body>) -> Option<Duration> {
        GRPC.read(request.headers())
    }

    fn sends(&self, request: &mut Request<Body>) {
        let headers = request.headers_mut();
        let left = deadline::remaining().filter(|_| headers.contains_key(&GRPC.name));
        if let Some(left) = left {
            GRPC.set(headers, left);
        }
    }

    /// As a `Status`, which `tonic` gives to the caller.
    fn for_caller(&self, error: BoxedError) -> BoxedError {
        let outcome = match error.downcast_ref::<Stopped>() {
            Some(stopped) => stopped.outcome(),
            // The `Channel` reads the time that an attempt has left, and may be faster.
            None if links(&*error).any(<dyn StdError>::is::<TimeoutExpired>) => Outcome::Timeout,
            None => return error,
        };
        let code = match outcome {
            Outcome::Cancelled => Code::Cancelled,
            Outcome::Paused => Code::Unavailable,
            _ => Code::DeadlineExceeded,
        };
        let mut status = Status::new(code, error.to_string());
        status.set_source(error.into());
        status.into()
    }
}

/// The most frames of a request that are kept. A request of one message is one frame.
const FRAMES: usize = 16;

/// Returns a copy of the body if all of it is there. The body is then the same as before.
fn copy_of(body: &mut Body) -> Option<Body> {
    let (mut rest, mut frames) = (mem::take(body), VecDeque::new());
    let mut copied = VecDeque::new();
    // The body is polled again when it is sent, so no wake-up is lost.
    let mut context = Context::from_waker(Waker::noop());
    let copy = loop {
        match Pin::new(&mut rest).poll_frame(&mut context) {
            Poll::Ready(Some(frame)) => {
                let data = frame.as_ref().ok().and_then(Frame::data_ref).cloned();
                frames.push_back(frame);
                match data {
                    Some(data) if copied.len() < FRAMES => copied.push_back(Ok(Frame::data(data))),
                    // Clients of gRPC send no trailers.
                    _ => break None,
                }
            }
            Poll::Ready(None) => {
                rest = Body::empty();
                let (frames, rest) = (copied, Body::empty());
                break Some(Body::new(Sent { frames, rest }));
            }
            Poll::Pending => break None,
        }
    };
    *body = Body::new(Sent { frames, rest });
    copy
}

/// Frames, and the part of a body that was not there yet, which is else empty.
struct Sent {
    frames: VecDeque<SentFrame>,
    rest: Body,
}

type SentFrame = Result<Frame<Bytes>, Status>;

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<SentFrame>> {
        match self.frames.pop_front() {
            Some(frame) => Poll::Ready(Some(frame)),
            None => Pin::new(&mut self.rest).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty() && self.rest.is_end_stream()
    }
}
