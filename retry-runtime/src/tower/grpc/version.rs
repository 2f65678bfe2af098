//! Requests of one version of `tonic`. The module around names that version `client`.

use std::convert::Infallible;
use std::error::Error;
use std::future::ready;
use std::iter;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use ::http::{Request, Response};
use ::hyper::body::Frame;
use http_body_util::{BodyStream, StreamBody};
use tokio_stream::{Stream as _, StreamExt as _};

use super::client::body::Body;
use super::client::metadata::MetadataMap;
use super::client::{Code, Status, TimeoutExpired};
use crate::adapters::http::headers::GRPC;
use crate::adapters::known::links;
use crate::lookup::BoxedError;
use crate::stopped::{Outcome, Stopped};
use crate::tower::{GrpcRequests, OwnRequests, Requests};

impl<R: Send> Requests<Request<Body>, Response<R>> for GrpcRequests {
    type Failure = Status;

    fn copy(&self, request: Request<Body>) -> (Request<Body>, Option<Request<Body>>) {
        let (head, body) = request.into_parts();
        let (body, copy) = copy_of(body);
        let copy = copy.map(|body| Request::from_parts(head.clone(), body));
        (Request::from_parts(head, body), copy)
    }

    fn is_idempotent(&self, request: &Request<Body>) -> bool {
        let rule = self.idempotent.as_ref();
        rule.is_some_and(|rule| rule(request.uri().path()))
    }

    // Not `async`: its future would hold the request, which is not `Sync`.
    fn failure(
        &self,
        _: Option<&Request<Body>>,
        response: &mut Response<R>,
    ) -> impl Future<Output = Option<Status>> + Send {
        ready(failure_of(response))
    }

    /// The service, such as `grpc.health.v1.Health`.
    fn host(&self, request: &Request<Body>) -> Option<String> {
        Some(request.uri().path().split('/').nth(1)?.to_owned())
    }

    fn own(&self) -> &(dyn OwnRequests<Request<Body>, Response<R>> + Sync) {
        self
    }
}

fn failure_of<R>(response: &Response<R>) -> Option<Status> {
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

#[doc(hidden)]
impl<R> OwnRequests<Request<Body>, Response<R>> for GrpcRequests {
    fn deadline(&self, request: &Request<Body>) -> Option<Duration> {
        GRPC.read(request.headers())
    }

    fn sends(&self, request: &mut Request<Body>) {
        GRPC.set_left(request.headers_mut());
    }

    /// The `Channel` reads the time that is sent, and may be faster.
    fn timed_out(&self, error: &BoxedError) -> bool {
        links(&**error).any(<dyn Error>::is::<TimeoutExpired>)
    }

    /// As a `Status`, which `tonic` gives to the caller.
    fn for_caller(&self, error: BoxedError) -> BoxedError {
        let code = match error.downcast_ref().map(Stopped::outcome) {
            None => return error,
            Some(Outcome::Cancelled) => Code::Cancelled,
            Some(Outcome::Paused) => Code::Unavailable,
            Some(_) => Code::DeadlineExceeded,
        };
        let mut status = Status::new(code, error.to_string());
        status.set_source(error.into());
        status.into()
    }
}

/// The most frames of a request that are kept. A request of one message is one frame.
const FRAMES: usize = 16;

/// Returns the body, and a copy if all of it is there.
fn copy_of(body: Body) -> (Body, Option<Body>) {
    let mut rest = BodyStream::new(body).fuse();
    // The body is polled again when it is sent, so no wake-up is lost.
    let mut context = Context::from_waker(Waker::noop());
    let mut whole = false;
    let ready = iter::from_fn(|| match Pin::new(&mut rest).poll_next(&mut context) {
        Poll::Ready(Some(frame)) => Some(frame),
        polled => {
            whole = polled.is_ready();
            None
        }
    });
    let frames: Vec<_> = ready.take(FRAMES + 1).collect();
    // Clients of gRPC send no trailers.
    let data = |frame: &Result<Frame<_>, _>| frame.as_ref().ok()?.data_ref().cloned();
    let data = frames.iter().map(data).collect::<Option<Vec<_>>>();
    let copy = data.filter(|_| whole).map(|data| {
        let frame = |data| Ok::<_, Infallible>(Frame::data(data));
        let frames = tokio_stream::iter(data.into_iter().map(frame));
        Body::new(StreamBody::new(frames))
    });
    let frames = tokio_stream::iter(frames).chain(rest);
    (Body::new(StreamBody::new(frames)), copy)
}
