//! Requests of one version of `tonic`. The module around names that version `client`.

use std::collections::VecDeque;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use ::http::{Request, Response};
use ::hyper::body::{Body as HttpBody, Bytes, Frame};

use super::super::GrpcRequests;
use super::client::body::Body;
use super::client::metadata::MetadataMap;
use super::client::{Code, Status, TimeoutExpired};
use crate::adapters::http::headers::GRPC;
use crate::adapters::known::links;
use crate::layer::Requests;
use crate::lookup::BoxedError;
use crate::stopped::{Outcome, Stopped};

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

    /// The service, such as `grpc.health.v1.Health`.
    fn host(&self, request: &Request<Body>) -> Option<String> {
        Some(request.uri().path().split('/').nth(1)?.to_owned())
    }

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
fn copy_of(mut rest: Body) -> (Body, Option<Body>) {
    let mut frames = VecDeque::new();
    // The body is polled again when it is sent, so no wake-up is lost.
    let mut context = Context::from_waker(Waker::noop());
    let whole = loop {
        match Pin::new(&mut rest).poll_frame(&mut context) {
            Poll::Ready(Some(frame)) => frames.push_back(frame),
            polled => break polled.is_ready(),
        }
        if frames.len() > FRAMES {
            break false;
        }
    };
    if whole {
        rest = Body::empty();
    }
    // Clients of gRPC send no trailers.
    let copied = frames.iter().map(|frame: &SentFrame| {
        let data = frame.as_ref().ok()?.data_ref()?;
        Some(Ok(Frame::data(data.clone())))
    });
    let copied = copied.collect::<Option<_>>().filter(|_| whole);
    let copy = copied.map(|frames| {
        let rest = Body::empty();
        Body::new(Sent { frames, rest })
    });
    (Body::new(Sent { frames, rest }), copy)
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
