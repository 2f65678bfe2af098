//! One version of the client of `tonic`, against the server of the newest. The module around names the crate `client`, and that
//! with the generated code `health`.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Bytes, Frame};
use integrations::grpc::{self, Service};
use integrations::loopback;
use integrations::proxy::{Proxy, To};
use reattempt::deadline::header::parse_grpc_timeout;
use reattempt::tower_0_5::{GrpcRequests, RetryLayer, RetryService};
use reattempt::{
    Budget, Budgets, Outcome, Policy, Retryable, Stopped, Verdict, retry, with_report,
};
use tokio::net::TcpListener;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::transport::Server;
use tonic::{Code as SentCode, Status as Sent};
use tonic_types::{ErrorDetails, StatusExt as _};
use tower::Layer as _;

use super::client::body::Body;
use super::client::transport::{Channel, Endpoint};
use super::client::{Code, Status, TimeoutExpired};
use super::health::pb::HealthCheckRequest;
use super::health::pb::health_client::HealthClient;

fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint::try_from(format!("http://{address}")).unwrap()
}

fn client(address: SocketAddr) -> HealthClient<Channel> {
    HealthClient::new(endpoint(address).connect_lazy())
}

/// A function as a user writes it. `Status` cannot hold a `Stopped`, so `Error` wraps it.
#[retry(attempts = 3, base = "1ms", timeout = "20s")]
async fn check(client: &HealthClient<Channel>) -> Result<i32, reattempt::Error<Status>> {
    Ok(check_once(client).await?)
}

async fn check_once(client: &HealthClient<Channel>) -> Result<i32, Status> {
    let mut client = client.clone();
    Ok(client
        .check(HealthCheckRequest::default())
        .await?
        .into_inner()
        .status)
}

#[tokio::test]
async fn each_code_is_retried_or_not() {
    /// The code of the answer, set before each call.
    static CODE: AtomicUsize = AtomicUsize::new(0);
    let service = Service::start(|call| {
        let code = i32::try_from(CODE.load(Ordering::Relaxed)).unwrap();
        (call % 2 == 1).then(|| Sent::new(SentCode::from_i32(code), "as asked"))
    })
    .await;
    let client = client(service.address);
    for code in 1..=16 {
        CODE.store(code, Ordering::Relaxed);
        let retried = matches!(code, 4 | 10 | 14);
        let before = service.calls();
        assert_eq!(check(&client).await.is_ok(), retried, "code {code}");
        let calls = service.calls() - before;
        assert_eq!(calls, if retried { 2 } else { 1 }, "code {code}");
        if !retried {
            // This call makes the number of calls even again, for the next code.
            check_once(&client).await.unwrap();
        }
    }
}

fn pushed_back(millis: &'static str) -> Sent {
    let mut metadata = MetadataMap::new();
    metadata.insert("grpc-retry-pushback-ms", millis.parse().unwrap());
    Sent::with_metadata(SentCode::Unavailable, "pushed back", metadata)
}

fn pushed_back_twice() -> Sent {
    let mut status = pushed_back("1");
    let pushback = "1".parse().unwrap();
    (status.metadata_mut()).append("grpc-retry-pushback-ms", pushback);
    status
}

fn later(code: SentCode, delay: Duration) -> Sent {
    Sent::with_error_details(code, "later", ErrorDetails::with_retry_info(Some(delay)))
}

#[tokio::test]
async fn what_a_server_says_of_the_delay_is_waited_for_or_ends_the_call() {
    const SHORT: Duration = Duration::from_millis(200);
    for (script, calls, waits) in [
        (
            |call| (call < 3).then(|| Sent::unavailable("deploying")),
            3,
            Ok(Duration::ZERO),
        ),
        (
            |call| (call == 1).then(|| later(SentCode::ResourceExhausted, SHORT)),
            2,
            Ok(SHORT),
        ),
        (|call| (call == 1).then(|| pushed_back("200")), 2, Ok(SHORT)),
        (|_| Some(pushed_back("-1")), 1, Err(Code::Unavailable)),
        (|_| Some(pushed_back_twice()), 1, Err(Code::Unavailable)),
        // Ten thousand years and more.
        (
            |_| Some(later(SentCode::Unavailable, Duration::MAX)),
            1,
            Err(Code::Unavailable),
        ),
    ] as [(grpc::Script, usize, Result<Duration, Code>); 6]
    {
        let service = Service::start(script).await;
        let begun = Instant::now();
        match check(&client(service.address)).await {
            Ok(status) => {
                assert_eq!(status, 1);
                assert!(begun.elapsed() >= waits.unwrap(), "{:?}", begun.elapsed());
            }
            Err(reattempt::Error::Failed(status)) => assert_eq!(Err(status.code()), waits),
            Err(stopped) => panic!("stopped: {stopped}"),
        }
        assert_eq!(service.calls(), calls, "{waits:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_refused_and_comes_back() {
    let (address, socket) = loopback::later();
    let client = client(address);
    let status = check_once(&client).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
    assert_eq!(status.verdict(), Verdict::Refused, "{status:?}");

    let service = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        Service::start_on(socket, |_| None)
    });
    assert_eq!(check_patiently(&client).await.unwrap(), 1);
    assert_eq!(service.await.unwrap().calls(), 1);
}

/// The retry is safe even if the request must not run twice, because nothing ran while no server listened.
#[retry(
    attempts = "unlimited",
    backoff = "constant",
    base = "10ms",
    idempotent = false
)]
async fn check_patiently(client: &HealthClient<Channel>) -> Result<i32, Status> {
    check_once(client).await
}

#[tokio::test]
async fn a_connection_lost_in_the_middle_is_transient() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        // The server takes the call, and closes the connection.
        let (stream, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(stream).await.unwrap();
        connection.accept().await.unwrap().unwrap();
    });
    let status = check_once(&client(address)).await.unwrap_err();
    assert_eq!(status.verdict(), Verdict::Transient, "{status:?}");

    let broken = loopback::Loopback::start(&[loopback::Answer::Reset]).await;
    let status = check_once(&client(broken.address)).await.unwrap_err();
    assert!(status.verdict().is_retryable(), "{status:?}");

    // A firewall rejects the packets of a connection that was open.
    let broken = loopback::Loopback::start(&[loopback::Answer::Close]).await;
    let address = broken.address;
    let connector = tower::service_fn(move |_| async move {
        let stream = tokio::net::TcpStream::connect(address).await?;
        let stream = loopback::Rejected(stream);
        Ok::<_, std::io::Error>(hyper_util::rt::TokioIo::new(stream))
    });
    let channel = endpoint(address).connect_with_connector_lazy(connector);
    let status = check_once(&HealthClient::new(channel)).await.unwrap_err();
    assert_eq!(status.verdict(), Verdict::Transient, "{status:?}");
}

#[tokio::test]
async fn a_call_that_a_goaway_leaves_out_is_refused_and_one_that_has_begun_is_not() {
    for (goaway, verdict) in [
        (&[(0, 0)], Verdict::Refused),
        (&[(0, 2)], Verdict::Refused),
        (&[(1, 2)], Verdict::Transient),
    ] as [(&'static [(u8, u8)], Verdict); 3]
    {
        let away = loopback::GoesAway::start(goaway).await;
        let status = check_once(&client(away.address)).await.unwrap_err();
        assert_eq!(status.verdict(), verdict, "{goaway:?}: {status:?}");
    }
}

/// Nothing was sent, whatever kept the client from connecting.
#[tokio::test]
async fn a_call_without_a_connection_is_refused() {
    use std::io::{Error, ErrorKind};

    for kind in [
        ErrorKind::TimedOut,
        ErrorKind::HostUnreachable,
        ErrorKind::ConnectionReset,
        ErrorKind::UnexpectedEof,
        ErrorKind::Other,
    ] {
        let connector = tower::service_fn(move |_| async move {
            Err::<hyper_util::rt::TokioIo<tokio::net::TcpStream>, _>(Error::from(kind))
        });
        let channel = endpoint(loopback::nobody()).connect_with_connector_lazy(connector);
        let status = check_once(&HealthClient::new(channel)).await.unwrap_err();
        assert_eq!(status.verdict(), Verdict::Refused, "{kind}: {status:?}");
    }
    // A server that takes no connections: its queue is full.
    let (address, socket) = loopback::later();
    let listener = socket.listen(0).unwrap();
    let _queued = tokio::net::TcpStream::connect(address).await.unwrap();
    let short = endpoint(address).connect_timeout(Duration::from_millis(50));
    let status = check_once(&HealthClient::new(short.connect_lazy())).await;
    let status = status.unwrap_err();
    assert_eq!(status.verdict(), Verdict::Refused, "{status:?}");
    drop(listener);
}

#[tokio::test]
async fn a_call_that_a_server_sheds_is_throttled() {
    let busy = Server::builder()
        .load_shed(true)
        .concurrency_limit_per_connection(1);
    let service = Service::start_as(busy, |call| (call == 1).then(|| Sent::unknown("stall"))).await;
    let client = client(service.address);
    let first = client.clone();
    let busy = tokio::spawn(async move { check_once(&first).await });
    while service.calls() == 0 {
        tokio::task::yield_now().await;
    }
    let status = check_once(&client).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    assert_eq!(status.verdict(), Verdict::Throttled, "{status:?}");
    busy.abort();
}

/// As Spanner sends it.
#[tokio::test]
async fn a_call_waits_for_the_retry_info_of_a_trailer() {
    let service = Service::start(|call| {
        let mut status = Sent::aborted("the transaction was aborted");
        // `RetryInfo { retry_delay: 200 ms }`
        let info = [10, 5, 16, 0x80, 0x84, 0xaf, 0x5f];
        let value = MetadataValue::from_bytes(&info);
        let metadata = status.metadata_mut();
        metadata.insert_bin("google.rpc.retryinfo-bin", value);
        (call == 1).then_some(status)
    })
    .await;
    let status = check_once(&client(service.address)).await.unwrap_err();
    assert_eq!(status.verdict(), Verdict::Conflict, "{status:?}");
    assert_eq!(status.hint(), Some(Duration::from_millis(200)));
}

#[tokio::test]
async fn the_client_s_own_timeout_is_transient() {
    let service = Service::start(|_| Some(Sent::unknown("stall"))).await;
    let channel = endpoint(service.address)
        .timeout(Duration::from_millis(50))
        .connect_lazy();
    let status = check_once(&HealthClient::new(channel)).await.unwrap_err();
    assert_eq!(status.code(), Code::Cancelled, "{status:?}");
    assert_eq!(status.verdict(), Verdict::Transient, "{status:?}");
}

#[tokio::test]
async fn an_attempt_that_is_cut_is_retried() {
    let service = Service::start(|call| (call < 3).then(grpc::stall)).await;
    assert_eq!(check(&client(service.address)).await.unwrap(), 1);
    assert_eq!(service.calls(), 3);

    let service = Service::start(|_| Some(grpc::stall())).await;
    let error = check(&client(service.address)).await.unwrap_err();
    let reattempt::Error::Stopped(stopped) = error else {
        panic!("failed: {error}")
    };
    let stopped: Stopped = stopped;
    assert_eq!(
        (stopped.outcome(), stopped.attempts()),
        (Outcome::Timeout, 3)
    );
}

#[tokio::test]
async fn a_layer_retries_the_calls_of_a_channel() {
    let policy = Policy::new().with_attempts(3);
    let layer = RetryLayer::new(policy.with_base(Duration::from_millis(1)));
    let script = |call| (call < 3).then(|| Sent::unavailable("deploying"));
    let reads = HashSet::from(["/grpc.health.v1.Health/Check".to_owned()]);
    for (idempotent, calls) in [(true, 3), (false, 1)] {
        let service = Service::start(script).await;
        let mut requests = GrpcRequests::new();
        if idempotent {
            let reads = reads.clone();
            requests = requests.with_idempotent(move |path| reads.contains(path));
        }
        let channel = endpoint(service.address).connect_lazy();
        let retried = layer.clone().with_requests(requests).layer(channel);
        let answer = HealthClient::new(retried)
            .check(HealthCheckRequest::default())
            .await;
        assert_eq!((answer.is_ok(), service.calls()), (idempotent, calls));
    }
    // Without a connection, nothing ran.
    let channel = endpoint(loopback::nobody()).connect_lazy();
    let retried = layer.with_requests(GrpcRequests::new()).layer(channel);
    let mut client = HealthClient::new(retried);
    let (answer, report) = with_report(client.check(HealthCheckRequest::default())).await;
    assert!(answer.is_err());
    assert_eq!(report.unwrap().attempts(), 3);
}

/// The layer with these requests, whose policy has no limit of its own.
fn retried(policy: Policy, service: &Service) -> HealthClient<RetryService<Channel, GrpcRequests>> {
    let requests = GrpcRequests::new().with_idempotent(|_| true);
    let layer = RetryLayer::new(policy.with_base(Duration::from_millis(1)));
    HealthClient::new(
        layer
            .with_requests(requests)
            .layer(endpoint(service.address).connect_lazy()),
    )
}

#[tokio::test]
async fn the_deadline_of_a_request_is_that_of_its_call() {
    let service = Service::start(|_| Some(Sent::unknown("stall"))).await;
    let mut client = retried(Policy::new(), &service);
    let mut request = super::client::Request::new(HealthCheckRequest::default());
    request.set_timeout(Duration::from_millis(300));
    let (answer, report) = with_report(client.check(request)).await;
    let report = report.unwrap();
    assert_eq!((report.attempts(), service.calls()), (1, 1));
    assert_eq!(report.outcome(), Outcome::Deadline);
    let status = answer.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
}

#[tokio::test]
async fn a_limit_of_a_layer_has_the_code_that_grpc_has_for_it() {
    static PAUSED: Budget = Budget::new().with_pause();
    let service = Service::start(|_| Some(grpc::stall())).await;
    let hasty = Policy::new().with_timeout(Duration::from_secs(20));
    let answer = retried(hasty, &service)
        .check(HealthCheckRequest::default())
        .await;
    let status = answer.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
    assert_eq!(status.verdict(), Verdict::Transient, "{status:?}");

    // The budget is in a pause that leaves no time.
    let service = Service::start(|_| {
        let (code, later) = (SentCode::ResourceExhausted, Duration::from_secs(30));
        let details = ErrorDetails::with_retry_info(Some(later));
        Some(Sent::with_error_details(code, "slow down", details))
    });
    let service = service.await;
    let bounded = RetryLayer::new(Policy::new().with_deadline(Duration::from_secs(20)));
    let bounded = bounded
        .with_budget(&PAUSED)
        .with_requests(GrpcRequests::new());
    let mut client = HealthClient::new(bounded.layer(endpoint(service.address).connect_lazy()));
    for code in [Code::ResourceExhausted, Code::Unavailable] {
        let answer = client.check(HealthCheckRequest::default()).await;
        assert_eq!(answer.unwrap_err().code(), code);
    }
    assert_eq!(service.calls(), 1);

    // A call below was cancelled.
    let below = tower::service_fn(async |_: http::Request<Body>| {
        let run = reattempt::run!(
            cancel = std::future::ready(()),
            when = |_| true,
            async || { Err::<http::Response<Body>, _>("never") }
        );
        let stopped = run.await.unwrap_err();
        Err::<http::Response<Body>, tower::BoxError>(stopped.into_failed().unwrap_err().into())
    });
    let layer = RetryLayer::new(Policy::new()).with_requests(GrpcRequests::new());
    let answer = HealthClient::new(layer.layer(below))
        .check(HealthCheckRequest::default())
        .await;
    assert_eq!(answer.unwrap_err().code(), Code::Cancelled);
}

#[tokio::test]
async fn services_of_grpc_have_budgets_of_their_own() {
    static SERVICES: Budgets<String> = Budgets::new(Budget::new());
    let service = Service::start(|_| Some(Sent::unavailable("deploying"))).await;
    let requests = GrpcRequests::new().with_idempotent(|_| true);
    let layer = RetryLayer::new(Policy::new()).with_budgets(&SERVICES);
    let channel = endpoint(service.address).connect_lazy();
    let mut client = HealthClient::new(layer.with_requests(requests).layer(channel));
    client
        .check(HealthCheckRequest::default())
        .await
        .unwrap_err();
    assert_eq!(service.calls(), 3);
    assert!(SERVICES.of("grpc.health.v1.Health").level() < 200.0);
    assert!(SERVICES.of("other.Service").level() >= 200.0);
}

/// An error of your own has its own verdict.
#[tokio::test(start_paused = true)]
async fn an_own_error_of_a_service_below_decides() {
    #[derive(Debug, thiserror::Error, Retryable)]
    enum Own {
        #[error("not now")]
        #[retryable(refused)]
        NotNow,
        #[error("never")]
        #[retryable(permanent)]
        Never,
    }
    for (error, attempts) in [(|| Own::NotNow, 3), (|| Own::Never, 1)] as [(fn() -> Own, u32); 2] {
        let service = tower::service_fn(move |_: http::Request<Body>| {
            std::future::ready(Err::<http::Response<Body>, _>(error()))
        });
        // Not idempotent.
        let layer = RetryLayer::new(Policy::new()).with_requests(GrpcRequests::new());
        let mut client = HealthClient::new(layer.layer(service));
        let call = client.check(HealthCheckRequest::default());
        let (answer, report) = with_report(call).await;
        answer.unwrap_err();
        assert_eq!(report.unwrap().attempts(), attempts);
    }
}

/// A request that is not there at once is a stream, of which the service below gets all frames.
#[tokio::test(start_paused = true)]
async fn a_request_is_sent_again_if_all_of_it_is_there() {
    for (frames, stalls, attempts) in [(2, false, 3), (16, false, 3), (17, false, 1), (2, true, 1)]
    {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&sent);
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let seen = Arc::clone(&seen);
            async move {
                let body = request.into_body().collect().await?.to_bytes();
                seen.lock().unwrap().push(body.to_vec());
                Err::<http::Response<Body>, _>(Status::unavailable("below"))
            }
        });
        let body = stream::iter(0..frames).then(move |frame| async move {
            if stalls && frame == 1 {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Ok::<_, Status>(Frame::data(Bytes::from(vec![frame])))
        });
        let body = Body::new(StreamBody::new(body));
        let requests = GrpcRequests::new().with_idempotent(|_| true);
        let layer = RetryLayer::new(Policy::new()).with_requests(requests);
        let answer = layer.layer(service).oneshot(http::Request::new(body)).await;
        answer.unwrap_err();
        let all: Vec<u8> = (0..frames).collect();
        assert_eq!(
            *sent.lock().unwrap(),
            vec![all; attempts],
            "{frames} {stalls}"
        );
    }
}

/// Returns the `grpc-timeout` that the first attempt of this request sends.
async fn sent_timeout(policy: Policy, own: Option<&str>) -> Option<Duration> {
    let sent = Arc::new(Mutex::new(None));
    let service = tower::service_fn({
        let sent = Arc::clone(&sent);
        move |request: http::Request<Body>| {
            *sent.lock().unwrap() = request.headers().get("grpc-timeout").cloned();
            std::future::ready(Err::<http::Response<Body>, _>(Status::not_found("below")))
        }
    });
    let client = RetryLayer::new(policy).with_requests(GrpcRequests::new());
    let mut request = http::Request::new(Body::empty());
    if let Some(own) = own {
        let headers = request.headers_mut();
        headers.insert("grpc-timeout", own.parse().unwrap());
    }
    client.layer(service).oneshot(request).await.unwrap_err();
    let sent = sent.lock().unwrap().take()?;
    parse_grpc_timeout(sent.to_str().unwrap())
}

#[tokio::test(start_paused = true)]
async fn an_attempt_sends_the_time_that_it_has_left() {
    let millis = |millis| Some(Duration::from_millis(millis));
    let none = Policy::new();
    let hasty = Policy::new().with_timeout(Duration::from_secs(2));
    let bounded = Policy::new().with_deadline(Duration::from_secs(1));
    for (policy, own, sent) in [
        (none.clone(), None, None),
        (none, Some("300m"), millis(300)),
        (hasty.clone(), None, millis(2_000)),
        (bounded.clone(), None, millis(1_000)),
        (
            bounded.with_timeout(Duration::from_millis(700)),
            None,
            millis(700),
        ),
        (hasty.clone(), Some("300m"), millis(300)),
        (hasty, Some("5S"), millis(2_000)),
    ] {
        assert_eq!(sent_timeout(policy, own).await, sent, "{own:?}");
    }
}

/// The `Channel` keeps the time that is sent too, or that of its `Endpoint`.
#[tokio::test]
async fn a_timeout_of_the_channel_is_one_of_the_call() {
    let service = Service::start(|_| Some(Sent::unknown("stall"))).await;
    let often = Policy::new().with_attempts(2);
    let short = Duration::from_millis(200);
    let hasty = || endpoint(service.address).timeout(short);
    for (policy, endpoint, text) in [
        (
            often.clone().with_timeout(short),
            endpoint(service.address),
            "timed out after 200ms",
        ),
        (often.clone(), hasty(), "stopped (timeout)"),
        (
            often.with_timeout(Duration::from_secs(50)),
            hasty(),
            "stopped (timeout)",
        ),
    ] {
        let requests = GrpcRequests::new().with_idempotent(|_| true);
        let layer = RetryLayer::new(policy).with_requests(requests);
        let mut client = HealthClient::new(layer.layer(endpoint.connect_lazy()));
        let (answer, report) = with_report(client.check(HealthCheckRequest::default())).await;
        let status = answer.unwrap_err();
        assert_eq!(status.code(), Code::DeadlineExceeded);
        assert!(status.message().starts_with(text), "{status}");
        let report = report.unwrap();
        assert_eq!((report.outcome(), report.attempts()), (Outcome::Timeout, 2));
    }
}

/// The host at the other end is gone, and no one closes the connection.
#[tokio::test]
async fn a_dead_connection_is_replaced_if_the_endpoint_looks() {
    let service = Service::start(|_| None).await;
    let port = service.address.port();
    for looks in [false, true] {
        let proxy = Proxy::start(move |_| To::Server(port)).await;
        let mut endpoint = endpoint(([127, 0, 0, 1], proxy.port).into());
        if looks {
            let often = Duration::from_millis(50);
            endpoint = endpoint
                .http2_keep_alive_interval(often)
                .keep_alive_timeout(often);
        }
        let requests = GrpcRequests::new().with_idempotent(|_| true);
        let policy = Policy::new().with_timeout(Duration::from_millis(500));
        let layer = RetryLayer::new(policy).with_requests(requests);
        let mut client = HealthClient::new(layer.layer(endpoint.connect_lazy()));
        client.check(HealthCheckRequest::default()).await.unwrap();
        proxy.freeze();
        let answer = client.check(HealthCheckRequest::default()).await;
        assert_eq!(answer.is_ok(), looks, "{answer:?}");
    }
}

/// The layer knows the errors of `tonic`, also as those of a service below.
#[tokio::test(start_paused = true)]
async fn a_status_of_a_service_below_decides() {
    for (code, attempts) in [(Code::Unavailable, 3), (Code::InvalidArgument, 1)] {
        let service = tower::service_fn(move |_: http::Request<Body>| {
            std::future::ready(Err::<http::Response<Body>, _>(Status::new(code, "below")))
        });
        let requests = GrpcRequests::new().with_idempotent(|_| true);
        let layer = RetryLayer::new(Policy::new()).with_requests(requests);
        let mut client = HealthClient::new(layer.layer(service));
        let call = client.check(HealthCheckRequest::default());
        let (answer, report) = with_report(call).await;
        assert_eq!(answer.unwrap_err().code(), code);
        assert_eq!(report.unwrap().attempts(), attempts);
    }
}

/// The layer reports no limit of its own then.
#[tokio::test]
async fn without_limits_the_error_is_that_of_the_channel() {
    use tower::Service as _;

    #[derive(Clone)]
    struct Late;

    #[derive(Debug, thiserror::Error, Retryable)]
    #[error("the time is over")]
    #[retryable(permanent)]
    struct TimeIsOver(#[from] TimeoutExpired);

    impl tower::Service<http::Request<Body>> for Late {
        type Response = http::Response<Body>;
        type Error = TimeIsOver;
        type Future = std::future::Ready<Result<Self::Response, TimeIsOver>>;

        fn poll_ready(
            &mut self,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Result<(), TimeIsOver>> {
            std::task::Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: http::Request<Body>) -> Self::Future {
            std::future::ready(Err(TimeoutExpired(()).into()))
        }
    }

    let layer = RetryLayer::new(Policy::new().without_limits());
    let mut client = layer.with_requests(GrpcRequests::new()).layer(Late);
    let _: TimeIsOver = client.call(http::Request::default()).await.unwrap_err();
}
