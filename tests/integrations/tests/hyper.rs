//! `hyper` 1, by hand and through the client of `hyper-util`, against real servers.

use std::net::SocketAddr;
use std::time::Duration;

use http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, Empty, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use integrations::loopback::{self, Answer, GoesAway, Loopback, Rejected};
use reattempt::http_1::{StatusError, check};
use reattempt::tower_0_5::RetryLayer;
use reattempt::{Budget, Outcome, Policy, Retryable, Stopped, Verdict, codes, retry, with_report};
use tokio::net::{TcpListener, TcpStream};
use tower::Layer as _;

type Body = Empty<Bytes>;

/// An error enum as most programs have it.
#[derive(Debug, thiserror::Error, Retryable)]
#[retryable(forward)]
enum FetchError {
    #[error("could not connect")]
    Connect(#[from] std::io::Error),
    #[error("the connection failed")]
    Hyper(#[from] hyper::Error),
    #[error("the client failed")]
    Client(#[from] hyper_util::client::legacy::Error),
    #[error(transparent)]
    Status(#[from] StatusError),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

fn request(address: SocketAddr) -> Request<Body> {
    let uri = format!("http://{address}/");
    Request::get(uri).body(Empty::new()).unwrap()
}

/// Makes one connection for one request, as people write it with `hyper` alone.
async fn fetch_once(address: SocketAddr) -> Result<Bytes, FetchError> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    read(sender.send_request(request(address)).await?).await
}

async fn read(response: Response<Incoming>) -> Result<Bytes, FetchError> {
    let response = check(response)?;
    Ok(response.into_body().collect().await?.to_bytes())
}

#[retry(attempts = 3, base = "1ms", timeout = "20s")]
async fn fetch(address: SocketAddr) -> Result<Bytes, FetchError> {
    fetch_once(address).await
}

#[retry(attempts = 3, base = "1ms", timeout = "20s")]
async fn fetch_pooled(
    client: &Client<HttpConnector, Body>,
    address: SocketAddr,
) -> Result<Bytes, FetchError> {
    read(client.request(request(address)).await?).await
}

const UNAVAILABLE: Answer =
    Answer::Bytes(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n");
const TRUNCATED: Answer = Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf");
const RESET_IN_BODY: Answer =
    Answer::BytesThenReset(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf");
const JUNK: Answer = Answer::Bytes(b"\x00\x01\x02 not HTTP at all\r\n\r\n");
#[expect(clippy::large_const_arrays, reason = "promoted, so it is there once")]
const LONG: [u8; 1 << 20] = [b'a'; 1 << 20];

#[tokio::test]
async fn failures_of_a_bad_network_are_retried() {
    const CASES: [&[Answer]; 6] = [
        &[Answer::Reset, Answer::Reset],
        &[Answer::Close, Answer::Close],
        &[TRUNCATED, TRUNCATED],
        &[RESET_IN_BODY, RESET_IN_BODY],
        &[UNAVAILABLE, UNAVAILABLE],
        &[Answer::Stall, Answer::Stall],
    ];
    let client = Client::builder(TokioExecutor::new())
        .pool_max_idle_per_host(0)
        .build_http();
    for script in CASES {
        let server = Loopback::start_skipping(script).await;
        assert_eq!(fetch(server.address).await.unwrap(), "done", "{script:?}");
        assert_eq!(server.calls(), 3, "{script:?}");
        let server = Loopback::start_skipping(script).await;
        assert_eq!(
            fetch_pooled(&client, server.address).await.unwrap(),
            "done",
            "{script:?}"
        );
        assert_eq!(server.calls(), 3, "{script:?}");
    }
}

#[tokio::test]
async fn each_failure_has_its_verdict() {
    for (answer, verdict) in [
        (&[Answer::Reset], Verdict::Transient),
        (&[Answer::Close], Verdict::Transient),
        (&[TRUNCATED], Verdict::Transient),
        (&[RESET_IN_BODY], Verdict::Transient),
        (&[UNAVAILABLE], Verdict::Transient),
        (&[JUNK], Verdict::Permanent),
        (&[Answer::Bytes(&LONG)], Verdict::Permanent),
    ] as [(&'static [Answer], Verdict); 7]
    {
        let server = Loopback::start(answer).await;
        let error = fetch_once(server.address).await.unwrap_err();
        assert_eq!(error.verdict(), verdict, "{error:?}");
    }
}

#[tokio::test]
async fn a_request_on_a_connection_that_has_ended_is_refused() {
    let server = Loopback::start(&[loopback::OK]).await;
    let stream = TcpStream::connect(server.address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake::<_, Body>(TokioIo::new(stream))
            .await
            .unwrap();
    drop(connection);
    let error = sender
        .send_request(request(server.address))
        .await
        .unwrap_err();
    assert!(error.is_closed() || error.is_canceled(), "{error:?}");
    assert_eq!(error.verdict(), Verdict::Refused, "{error:?}");
}

/// A request that waits for its connection when that ends was not written, whatever ended it.
#[tokio::test]
async fn a_request_that_was_not_written_is_refused() {
    // The connection is dropped.
    let server = Loopback::start(&[loopback::OK]).await;
    let stream = TcpStream::connect(server.address).await.unwrap();
    let handshake = hyper::client::conn::http1::handshake::<_, Body>(TokioIo::new(stream));
    let (mut sender, mut connection) = handshake.await.unwrap();
    let ready = futures::future::poll_fn(|context| {
        // The connection wants a request.
        let _ = connection.poll_without_shutdown(context);
        sender.poll_ready(context)
    });
    ready.await.unwrap();
    let sent = sender.send_request(request(server.address));
    drop(connection);
    let error = sent.await.unwrap_err();
    assert!(error.is_canceled(), "{error:?}");
    assert_eq!(error.verdict(), Verdict::Refused, "{error:?}");

    // The server sends nonsense first, and this error of the connection is the source.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    server
        .try_write(b"\x00\x01\x02 not HTTP at all\r\n\r\n")
        .unwrap();
    stream.readable().await.unwrap();
    let handshake = hyper::client::conn::http1::handshake::<_, Body>(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.unwrap();
    let sent = sender.send_request(request(address));
    tokio::spawn(connection);
    let error = sent.await.unwrap_err();
    assert!(error.is_canceled(), "{error:?}");
    assert_eq!(error.verdict(), Verdict::Refused, "{error:?}");
    // So it is for whoever wraps it.
    let wrapped = std::io::Error::other(error);
    assert_eq!(wrapped.verdict(), Verdict::Refused, "{wrapped:?}");
}

/// Answers each HTTP/2 stream with a reset for this reason. Without a reason, it ends the connection.
async fn http2(reason: Option<h2::Reason>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(stream).await.unwrap();
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            match reason {
                Some(reason) => respond.send_reset(reason),
                None => connection.abrupt_shutdown(h2::Reason::NO_ERROR),
            }
        }
    });
    address
}

#[tokio::test]
async fn the_reason_of_an_http2_reset_decides() {
    for (reason, verdict) in [
        (Some(h2::Reason::REFUSED_STREAM), Verdict::Refused),
        (Some(h2::Reason::ENHANCE_YOUR_CALM), Verdict::Throttled),
        (Some(h2::Reason::INTERNAL_ERROR), Verdict::Transient),
        (Some(h2::Reason::CANCEL), Verdict::Transient),
        (Some(h2::Reason::HTTP_1_1_REQUIRED), Verdict::Permanent),
        (Some(h2::Reason::PROTOCOL_ERROR), Verdict::Unknown),
        (None, Verdict::Transient),
    ] {
        let address = http2(reason).await;
        let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
        let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream);
        let (mut sender, connection) = handshake.await.unwrap();
        tokio::spawn(connection);
        let error = sender.send_request(request(address)).await.unwrap_err();
        assert_eq!(error.verdict(), verdict, "{reason:?}: {error:?}");
    }
}

async fn post_http2(address: SocketAddr) -> Result<Response<Incoming>, hyper::Error> {
    let stream = TcpStream::connect(address).await.unwrap();
    let handshake =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.unwrap();
    tokio::spawn(connection);
    let post = Request::post(format!("http://{address}/")).body(Body::new());
    sender.send_request(post.unwrap()).await
}

/// RFC 9113, 6.8: the server acts on no stream above the last one of its `GOAWAY`.
#[tokio::test]
async fn a_request_that_a_goaway_leaves_out_is_refused_and_one_that_has_begun_is_not() {
    for (goaway, verdict) in [
        (&[(0, 0)], Verdict::Refused),
        // `PROTOCOL_ERROR`, `INTERNAL_ERROR`, `ENHANCE_YOUR_CALM`, and a reason that is not registered.
        (&[(0, 1)], Verdict::Refused),
        (&[(0, 2)], Verdict::Refused),
        (&[(0, 0xb)], Verdict::Refused),
        (&[(0, 0xfe)], Verdict::Refused),
        // `INADEQUATE_SECURITY` and `HTTP_1_1_REQUIRED` are the same on another connection.
        (&[(0, 0xc)], Verdict::Permanent),
        (&[(0, 0xd)], Verdict::Permanent),
        // This stream has begun.
        (&[(1, 0)], Verdict::Transient),
        (&[(1, 2)], Verdict::Transient),
    ] as [(&'static [(u8, u8)], Verdict); 9]
    {
        let server = GoesAway::start(goaway).await;
        let error = post_http2(server.address).await.unwrap_err();
        assert_eq!(error.verdict(), verdict, "{goaway:?}: {error:?}");
    }
}

/// A function that must not run twice.
#[retry(attempts = 3, base = "1ms", idempotent = false)]
async fn pay(address: SocketAddr) -> Result<(), hyper::Error> {
    post_http2(address).await?;
    Ok(())
}

#[tokio::test]
async fn a_payment_that_a_goaway_leaves_out_is_sent_again_and_one_that_has_begun_is_not() {
    let server = GoesAway::start(&[(0, 0), (0, 2)]).await;
    pay(server.address).await.unwrap();
    assert_eq!(server.calls(), 3);
    let server = GoesAway::start(&[(1, 0)]).await;
    pay(server.address).await.unwrap_err();
    assert_eq!(server.calls(), 1);
}

/// The answers of `DynamoDB` to a request that is too much, and to one that is wrong.
const THROTTLED: Answer = Answer::Bytes(
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: 241\r\n\
    connection: close\r\n\r\n{\"__type\":\"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException\",\
    \"message\":\"The level of configured provisioned throughput for the table was exceeded. Consider increasing your \
    provisioning level with the UpdateTable API.\"}",
);
const INVALID: Answer = Answer::Bytes(
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: 110\r\n\
    connection: close\r\n\r\n{\"__type\":\"com.amazon.coral.validate#ValidationException\",\
    \"message\":\"The provided key element does not match\"}",
);

#[derive(Debug, thiserror::Error)]
#[error("{code} (status {status})")]
struct AwsError {
    code: String,
    status: u16,
}

impl Retryable for AwsError {
    fn verdict(&self) -> Verdict {
        match codes::aws(&self.code) {
            Verdict::Unknown => codes::http_status(self.status),
            verdict => verdict,
        }
    }
}

#[retry(attempts = 3, base = "1ms", throttled_base = "1ms")]
async fn put_item(address: SocketAddr) -> Result<Bytes, AwsError> {
    let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
    let response = client.request(request(address)).await.expect("an answer");
    let status = response.status().as_u16();
    let body = response.collect().await.expect("a body").to_bytes();
    if status == 200 {
        return Ok(body);
    }
    let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    let code = body["__type"].as_str().expect("a code").to_owned();
    Err(AwsError { code, status })
}

#[tokio::test]
async fn throttling_of_dynamodb_is_retried_although_its_status_is_400() {
    let server = Loopback::start(&[THROTTLED, THROTTLED]).await;
    assert_eq!(put_item(server.address).await.unwrap(), "done");
    assert_eq!(server.calls(), 3);

    let server = Loopback::start(&[INVALID]).await;
    put_item(server.address).await.unwrap_err();
    assert_eq!(server.calls(), 1);
}

fn layered(attempts: u32) -> RetryLayer {
    let policy = Policy::new().with_attempts(attempts);
    RetryLayer::new(policy.with_base(Duration::from_millis(1)))
}

/// The client of `hyper-util` as a service of `tower`.
async fn send(
    layer: &RetryLayer,
    request: http::request::Builder,
    address: SocketAddr,
) -> Result<Response<Incoming>, Box<dyn std::error::Error + Send + Sync>> {
    let client = Client::builder(TokioExecutor::new())
        .pool_max_idle_per_host(0)
        .build_http::<Body>();
    let request = request.uri(format!("http://{address}/")).body(Body::new());
    layer.layer(client).oneshot(request.unwrap()).await
}

#[tokio::test]
async fn a_layer_retries_the_requests_of_a_client() {
    const AFTER_A_SECOND: Answer = Answer::Bytes(
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nretry-after: 1\r\n\r\n",
    );
    let layer = layered(3);
    let server = Loopback::start(&[AFTER_A_SECOND, Answer::Reset]).await;
    let response = send(&layer, Request::get("/"), server.address)
        .await
        .unwrap();
    assert_eq!((response.status().as_u16(), server.calls()), (200, 3));
    let times = server.times();
    assert!(times[1] - times[0] >= Duration::from_secs(1), "{times:?}");

    // The last response is returned, whatever its status.
    let server = Loopback::start(&[UNAVAILABLE; 3]).await;
    let response = send(&layer, Request::get("/"), server.address)
        .await
        .unwrap();
    assert_eq!((response.status().as_u16(), server.calls()), (503, 3));

    // Said of all requests, it decides in place of their methods.
    let server = Loopback::start(&[Answer::Reset]).await;
    let harmless = layer.clone().with_idempotent(true);
    let sent = send(&harmless, Request::post("/"), server.address).await;
    assert_eq!((sent.is_ok(), server.calls()), (true, 2));

    // These may have run, unless no connection was made.
    for request in [
        || Request::post("/"),
        || Request::put("/").header("if-match", "\"1\""),
    ] as [fn() -> http::request::Builder; 2]
    {
        let server = Loopback::start(&[Answer::Reset]).await;
        send(&layer, request(), server.address).await.unwrap_err();
        assert_eq!(server.calls(), 1);
        let (sent, report) = with_report(send(&layer, request(), loopback::nobody())).await;
        assert!(sent.is_err());
        assert_eq!(report.unwrap().attempts(), 3);
    }
}

#[tokio::test]
async fn a_layer_keeps_to_its_budget_and_says_what_stopped_it() {
    static EMPTY: Budget = Budget::aws().with_capacity(1).with_retry_cost(2);
    let server = Loopback::start(&[UNAVAILABLE; 3]).await;
    let layer = layered(3).with_budget(&EMPTY);
    let response = send(&layer, Request::get("/"), server.address)
        .await
        .unwrap();
    assert_eq!((response.status().as_u16(), server.calls()), (503, 1));

    let hasty = Policy::new().with_timeout(Duration::from_secs(20));
    let layer = RetryLayer::new(hasty.with_attempts(1)).with_name("shop");
    let server = Loopback::start_skipping(&[Answer::Stall]).await;
    let (sent, report) = with_report(send(&layer, Request::get("/"), server.address)).await;
    let stopped = sent.unwrap_err().downcast::<Stopped>().unwrap();
    assert_eq!(stopped.outcome(), Outcome::Timeout);
    assert_eq!(report.unwrap().function(), "shop");
}

/// The error of your own body may ask for a delay, as that of an upstream does.
#[tokio::test]
async fn the_hint_is_that_of_the_cause() {
    let busy = Response::builder().status(503);
    let busy = busy.header("retry-after", "2").body(()).unwrap();
    let cause = check(busy).unwrap_err();
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/", server.local_addr().unwrap());
    let request = || {
        let frames = futures::stream::iter([Err::<Frame<Bytes>, _>(cause.clone())]);
        let request = Request::post(&uri);
        request.body(StreamBody::new(frames)).unwrap()
    };
    let hint = Some(Duration::from_secs(2));
    let stream = TcpStream::connect(server.local_addr().unwrap())
        .await
        .unwrap();
    let stream = TokioIo::new(stream);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let error = sender.send_request(request()).await.unwrap_err();
    assert_eq!((error.verdict(), error.hint()), (cause.verdict(), hint));
    let client = Client::builder(TokioExecutor::new()).build_http();
    let error = client.request(request()).await.unwrap_err();
    assert_eq!((error.verdict(), error.hint()), (cause.verdict(), hint));
}

async fn rejected(address: SocketAddr) -> TokioIo<Rejected> {
    TokioIo::new(Rejected(TcpStream::connect(address).await.unwrap()))
}

/// A firewall rejects the packets of a connection that was open, after the server has read the request: no failed connect.
#[tokio::test]
async fn a_post_is_sent_once_if_its_open_connection_is_refused() {
    macro_rules! once {
        ($address:ident => $error:ty { $send:expr }) => {
            let server = Loopback::start(&[Answer::Close; 3]).await;
            let $address = server.address;
            let policy = Policy::new().without_limits();
            let run = policy.run(async || -> Result<(), $error> { $send.await.map(drop) });
            let error = run.with_idempotent(false).await.unwrap_err();
            assert_eq!(error.verdict(), Verdict::Transient, "{error:?}");
            assert_eq!(server.calls(), 1, "{error:?}");
        };
    }
    let post = |address| {
        let uri = format!("http://{address}/");
        Request::post(uri).body(Body::new()).unwrap()
    };
    let connector = tower::service_fn(|uri: Uri| {
        let address = uri.authority().unwrap().as_str().parse().unwrap();
        Box::pin(async move { Ok::<_, std::io::Error>(rejected(address).await) })
    });
    let client = Client::builder(TokioExecutor::new()).build(connector);
    once!(address => hyper_util::client::legacy::Error { client.request(post(address)) });
    once!(address => hyper::Error {{
        let stream = rejected(address).await;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await?;
        tokio::spawn(connection);
        sender.send_request(post(address))
    }});
    once!(address => hyper::Error {{
        let stream = rejected(address).await;
        let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream);
        let (mut sender, connection) = handshake.await?;
        tokio::spawn(connection);
        sender.send_request(post(address))
    }});
}
