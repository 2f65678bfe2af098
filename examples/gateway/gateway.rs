//! The gateway: `axum` in front, `hyper-util` behind, and a layer with retries between the two.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body as Incoming;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use futures::{StreamExt as _, stream};
use http::header::{CONNECTION, HOST, HeaderName, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{HeaderMap, StatusCode};
use http_body_util::{Either, Full};
use hyper::body::{Body, Bytes, Frame};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use reattempt::http_1::DeadlineLayer;
use reattempt::tower_0_5::{HttpRequests, RequestBody, RetryLayer, RetryService};
use reattempt::{Budget, Budgets, Policy, Retryable as _, Stopped};
use tokio::time::timeout;
use tower::{BoxError, Layer as _};

const POLICY: Policy = Policy::new()
    .with_attempts(4)
    .with_base(Duration::from_millis(50))
    .with_timeout(Duration::from_secs(1))
    .with_deadline(Duration::from_secs(3));

/// A stream is sent once, and its time covers the upload.
const STREAMS: Policy = Policy::new().with_deadline(Duration::from_mins(1));

/// How long the gateway reads a body that it keeps.
const READ: Duration = Duration::from_secs(3);

/// An upstream that is down takes no retries from the others.
static UPSTREAMS: Budgets<String> = Budgets::new(Budget::new());

/// Longer bodies are not kept for a retry.
const KEPT: usize = 64 << 10;

/// One server behind the gateway.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    /// Its requests have paths that begin with this, such as `/shop`. The rest is what the upstream gets.
    pub(crate) prefix: &'static str,
    /// Where it listens.
    pub(crate) authority: Authority,
    /// Whether it speaks HTTP/2, without TLS.
    pub(crate) http2: bool,
}

type Retrying = RetryService<Client<HttpConnector, Sent>>;

/// A client for bodies that are kept, and one for streams.
#[derive(Clone)]
struct Clients {
    kept: Retrying,
    streams: Retrying,
}

#[derive(Clone)]
struct Gateway {
    upstreams: Vec<Upstream>,
    http1: Clients,
    http2: Clients,
}

/// Makes the service of a gateway to these upstreams.
pub(crate) fn gateway(upstreams: Vec<Upstream>) -> Router {
    let layer = |policy, name| {
        RetryLayer::new(policy)
            .with_name(name)
            .with_budgets(&UPSTREAMS)
            // A client's `Idempotency-Key` does not say that the upstream reads it.
            .with_requests(HttpRequests::proxy().with_attempt_headers())
    };
    let (retry, streams) = (layer(POLICY, "gateway"), layer(STREAMS, "gateway streams"));
    let client = |http2| {
        let mut client = Client::builder(TokioExecutor::new());
        client
            .http2_only(http2)
            // The layer retries.
            .retry_canceled_requests(false)
            // A connection whose host is gone is closed after 2 s.
            .timer(TokioTimer::new())
            .http2_keep_alive_interval(Duration::from_secs(1))
            .http2_keep_alive_timeout(Duration::from_secs(1));
        let client = client.build_http();
        Clients {
            kept: retry.layer(client.clone()),
            streams: streams.layer(client),
        }
    };
    let gateway = Gateway {
        upstreams,
        http1: client(false),
        http2: client(true),
    };
    Router::new()
        .fallback(forward)
        // A client may allow less.
        .layer(DeadlineLayer::new())
        .with_state(gateway)
}

async fn forward(State(gateway): State<Gateway>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let found = gateway.upstreams.iter().find_map(|upstream| {
        let rest = path.strip_prefix(upstream.prefix)?;
        rest.starts_with('/').then_some((upstream, rest))
    });
    let Some((upstream, rest)) = found else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let uri = Uri::builder()
        .scheme(Scheme::HTTP)
        .authority(upstream.authority.clone());
    parts.uri = uri
        .path_and_query(rest)
        .build()
        .expect("the rest of a valid path");
    parts.version = http::Version::default();
    remove_hop_by_hop(&mut parts.headers);
    parts.headers.remove(HOST);
    let body = match timeout(READ, keep(body)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return StatusCode::BAD_REQUEST.into_response(),
        Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    let clients = if upstream.http2 {
        gateway.http2
    } else {
        gateway.http1
    };
    let client = match &body.0 {
        Either::Left(_) => clients.kept,
        Either::Right(_) => clients.streams,
    };
    match client.oneshot(http::Request::from_parts(parts, body)).await {
        Ok(mut response) => {
            remove_hop_by_hop(response.headers_mut());
            response.map(Incoming::new)
        }
        Err(error) => status_of(&error).into_response(),
    }
}

/// Why there is no answer. After a 503, nothing has run: the client may send a POST again too.
fn status_of(error: &BoxError) -> StatusCode {
    let stopped: Option<&Stopped> = error.downcast_ref();
    let failed: Option<&legacy::Error> = error.downcast_ref();
    match (stopped, failed) {
        (Some(stopped), _) if stopped.may_have_run() => StatusCode::GATEWAY_TIMEOUT,
        (None, Some(failed)) if failed.may_have_run() => StatusCode::BAD_GATEWAY,
        (None, None) => StatusCode::BAD_GATEWAY,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Removes the headers of one connection (RFC 9110, section 7.6.1).
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let always = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
    let old = [
        "keep-alive",
        "proxy-connection",
        "proxy-authenticate",
        "proxy-authorization",
    ];
    let old = old.map(HeaderName::from_static);
    for name in named.into_iter().chain(always).chain(old) {
        headers.remove(name);
    }
}

/// The body of a request to an upstream.
pub(crate) struct Sent(Either<Full<Bytes>, Incoming>);

/// Reads a body that is short, and leaves any other a stream.
async fn keep(body: Incoming) -> Result<Sent, axum::Error> {
    if body.size_hint().lower() > KEPT as u64 {
        return Ok(Sent(Either::Right(body)));
    }
    let mut data = body.into_data_stream();
    let mut read = Vec::new();
    while let Some(part) = data.next().await {
        read.extend_from_slice(&part?);
        if read.len() > KEPT {
            let first = stream::iter([Ok(Bytes::from(read))]);
            let all = Incoming::from_stream(first.chain(data));
            return Ok(Sent(Either::Right(all)));
        }
    }
    Ok(Sent(Either::Left(read.into())))
}

impl RequestBody for Sent {
    fn copy(&self) -> Option<Self> {
        match &self.0 {
            Either::Left(kept) => Some(Self(Either::Left(kept.clone()))),
            Either::Right(_) => None,
        }
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.0.size_hint()
    }
}
