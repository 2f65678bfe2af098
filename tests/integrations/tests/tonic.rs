//! gRPC against a real server in this process, over loopback.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use integrations::grpc::{self, Service, client, endpoint};
use integrations::loopback;
use reattempt::tower_0_5::{GrpcRequests, RetryLayer, RetryService};
use reattempt::{Outcome, Policy, Retryable as _, Stopped, Verdict, retry, with_report};
use tokio::net::TcpListener;
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Server};
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::{ErrorDetails, StatusExt as _};
use tower::Layer as _;

/// A function as a user writes it. `Status` cannot hold a `Stopped`, so `Error` wraps it.
#[retry(attempts = 3, base = "1ms", timeout = "20s")]
async fn check(client: &HealthClient<Channel>) -> Result<i32, reattempt::Error<Status>> {
    let mut client = client.clone();
    Ok(client
        .check(HealthCheckRequest::default())
        .await?
        .into_inner()
        .status)
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
async fn a_service_that_is_unavailable_for_a_moment_gets_a_retry() {
    let service = Service::start(|call| (call < 3).then(|| Status::unavailable("deploying"))).await;
    assert_eq!(check(&service.client()).await.unwrap(), 1);
    assert_eq!(service.calls(), 3);
}

#[tokio::test]
async fn each_code_is_retried_or_not() {
    /// The code of the answer, set before each call.
    static CODE: AtomicUsize = AtomicUsize::new(0);
    let service = Service::start(|call| {
        let code = i32::try_from(CODE.load(Ordering::Relaxed)).unwrap();
        (call % 2 == 1).then(|| Status::new(Code::from_i32(code), "as asked"))
    })
    .await;
    let client = service.client();
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

#[tokio::test]
async fn a_call_waits_for_the_delay_of_retry_info() {
    let service = Service::start(|call| {
        let delay = Some(Duration::from_millis(200));
        let details = ErrorDetails::with_retry_info(delay);
        (call == 1).then(|| Status::with_error_details(Code::ResourceExhausted, "quota", details))
    })
    .await;
    let begun = Instant::now();
    assert_eq!(check(&service.client()).await.unwrap(), 1);
    assert!(
        begun.elapsed() >= Duration::from_millis(200),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(service.calls(), 2);
}

fn pushed_back(millis: &'static str) -> Status {
    let mut metadata = MetadataMap::new();
    metadata.insert("grpc-retry-pushback-ms", millis.parse().unwrap());
    Status::with_metadata(Code::Unavailable, "pushed back", metadata)
}

#[tokio::test]
async fn a_negative_pushback_forbids_a_retry() {
    let service = Service::start(|_| Some(pushed_back("-1"))).await;
    check(&service.client()).await.unwrap_err();
    assert_eq!(service.calls(), 1);
}

#[tokio::test]
async fn two_pushbacks_forbid_a_retry() {
    let service = Service::start(|_| {
        let mut status = pushed_back("1");
        let metadata = status.metadata_mut();
        metadata.append("grpc-retry-pushback-ms", "1".parse().unwrap());
        Some(status)
    })
    .await;
    check(&service.client()).await.unwrap_err();
    assert_eq!(service.calls(), 1);
}

#[tokio::test]
async fn a_call_waits_for_a_pushback() {
    let service = Service::start(|call| (call == 1).then(|| pushed_back("200"))).await;
    let begun = Instant::now();
    assert_eq!(check(&service.client()).await.unwrap(), 1);
    assert!(
        begun.elapsed() >= Duration::from_millis(200),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn a_delay_of_ten_thousand_years_ends_the_call() {
    let service = Service::start(|_| {
        let details = ErrorDetails::with_retry_info(Some(Duration::MAX));
        Some(Status::with_error_details(
            Code::Unavailable,
            "later",
            details,
        ))
    })
    .await;
    let error = check(&service.client()).await.unwrap_err();
    let reattempt::Error::Failed(status) = error else {
        panic!("stopped: {error}")
    };
    assert_eq!(status.code(), Code::Unavailable);
    assert_eq!(service.calls(), 1);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_refused_and_comes_back() {
    let (address, socket) = loopback::later();
    let client = client(address);
    let status = check_once(&client).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
    assert_eq!(status.verdict(), Verdict::Refused, "{status:?}");

    let server = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        Service::start_on(socket, |_| None)
    });
    assert_eq!(check_patiently(&client).await.unwrap(), 1);
    assert_eq!(server.await.unwrap().calls(), 1);
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
}

#[tokio::test]
async fn a_call_that_a_goaway_leaves_out_is_refused_and_one_that_has_begun_is_not() {
    for (goaway, verdict) in [
        (&[(0, 0)], Verdict::Refused),
        (&[(0, 2)], Verdict::Refused),
        (&[(1, 2)], Verdict::Transient),
    ] as [(&'static [(u8, u8)], Verdict); 3]
    {
        let server = loopback::GoesAway::start(goaway).await;
        let status = check_once(&client(server.address)).await.unwrap_err();
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
    let server = Server::builder()
        .load_shed(true)
        .concurrency_limit_per_connection(1);
    let service =
        Service::start_as(server, |call| (call == 1).then(|| Status::unknown("stall"))).await;
    let client = service.client();
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
        let mut status = Status::aborted("the transaction was aborted");
        // `RetryInfo { retry_delay: 200 ms }`
        let info = [10, 5, 16, 0x80, 0x84, 0xaf, 0x5f];
        let value = tonic::metadata::MetadataValue::from_bytes(&info);
        let metadata = status.metadata_mut();
        metadata.insert_bin("google.rpc.retryinfo-bin", value);
        (call == 1).then_some(status)
    })
    .await;
    let status = check_once(&service.client()).await.unwrap_err();
    assert_eq!(status.verdict(), Verdict::Conflict, "{status:?}");
    assert_eq!(status.hint(), Some(Duration::from_millis(200)));
}

#[tokio::test]
async fn the_client_s_own_timeout_is_transient() {
    let service = Service::start(|_| Some(Status::unknown("stall"))).await;
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
    assert_eq!(check(&service.client()).await.unwrap(), 1);
    assert_eq!(service.calls(), 3);

    let service = Service::start(|_| Some(grpc::stall())).await;
    let error = check(&service.client()).await.unwrap_err();
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
    let script = |call| (call < 3).then(|| Status::unavailable("deploying"));
    for (idempotent, calls) in [(true, 3), (false, 1)] {
        let service = Service::start(script).await;
        let mut requests = GrpcRequests::new();
        if idempotent {
            requests = requests.with_idempotent(|path| path == "/grpc.health.v1.Health/Check");
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
    let service = Service::start(|_| Some(Status::unknown("stall"))).await;
    let mut client = retried(Policy::new(), &service);
    let mut request = tonic::Request::new(HealthCheckRequest::default());
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
    let service = Service::start(|_| Some(grpc::stall())).await;
    let hasty = Policy::new().with_timeout(Duration::from_secs(20));
    let answer = retried(hasty, &service)
        .check(HealthCheckRequest::default())
        .await;
    let status = answer.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
    assert_eq!(status.verdict(), Verdict::Transient, "{status:?}");
}

#[tokio::test]
async fn services_of_grpc_have_budgets_of_their_own() {
    static SERVICES: reattempt::Budgets<String> = reattempt::Budgets::new(reattempt::Budget::new());
    let service = Service::start(|_| Some(Status::unavailable("deploying"))).await;
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

/// The layer reports no limit of its own then.
#[tokio::test]
async fn without_limits_the_error_is_that_of_the_channel() {
    use tower::Service as _;

    #[derive(Clone)]
    struct Late;

    #[derive(Debug, thiserror::Error, reattempt::Retryable)]
    #[error("the time is over")]
    #[retryable(permanent)]
    struct TimeIsOver(#[from] tonic::TimeoutExpired);

    impl tower::Service<http::Request<tonic::body::Body>> for Late {
        type Response = http::Response<tonic::body::Body>;
        type Error = TimeIsOver;
        type Future = std::future::Ready<Result<Self::Response, TimeIsOver>>;

        fn poll_ready(
            &mut self,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Result<(), TimeIsOver>> {
            std::task::Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: http::Request<tonic::body::Body>) -> Self::Future {
            std::future::ready(Err(tonic::TimeoutExpired(()).into()))
        }
    }

    let layer = RetryLayer::new(Policy::new().without_limits());
    let mut client = layer.with_requests(GrpcRequests::new()).layer(Late);
    let _: TimeIsOver = client.call(http::Request::default()).await.unwrap_err();
}
