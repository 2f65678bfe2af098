//! One version of the client of `tonic`, against the server of the newest. The module around names the crate `client`, and that
//! with the generated code `health`.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use integrations::grpc::{self, Service};
use integrations::loopback;
use reattempt::{Outcome, Retryable as _, Stopped, Verdict, retry};
use tokio::net::TcpListener;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::transport::Server;
use tonic::{Code as SentCode, Status as Sent};
use tonic_types::{ErrorDetails, StatusExt as _};

use super::client::transport::{Channel, Endpoint};
use super::client::{Code, Status};
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
async fn a_service_that_is_unavailable_for_a_moment_gets_a_retry() {
    let service = Service::start(|call| (call < 3).then(|| Sent::unavailable("deploying"))).await;
    assert_eq!(check(&client(service.address)).await.unwrap(), 1);
    assert_eq!(service.calls(), 3);
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

#[tokio::test]
async fn a_call_waits_for_the_delay_of_retry_info() {
    let service = Service::start(|call| {
        let delay = Some(Duration::from_millis(200));
        let details = ErrorDetails::with_retry_info(delay);
        (call == 1).then(|| Sent::with_error_details(SentCode::ResourceExhausted, "quota", details))
    })
    .await;
    let begun = Instant::now();
    assert_eq!(check(&client(service.address)).await.unwrap(), 1);
    assert!(
        begun.elapsed() >= Duration::from_millis(200),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(service.calls(), 2);
}

fn pushed_back(millis: &'static str) -> Sent {
    let mut metadata = MetadataMap::new();
    metadata.insert("grpc-retry-pushback-ms", millis.parse().unwrap());
    Sent::with_metadata(SentCode::Unavailable, "pushed back", metadata)
}

#[tokio::test]
async fn a_negative_pushback_forbids_a_retry() {
    let service = Service::start(|_| Some(pushed_back("-1"))).await;
    check(&client(service.address)).await.unwrap_err();
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
    check(&client(service.address)).await.unwrap_err();
    assert_eq!(service.calls(), 1);
}

#[tokio::test]
async fn a_call_waits_for_a_pushback() {
    let service = Service::start(|call| (call == 1).then(|| pushed_back("200"))).await;
    let begun = Instant::now();
    assert_eq!(check(&client(service.address)).await.unwrap(), 1);
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
        Some(Sent::with_error_details(
            SentCode::Unavailable,
            "later",
            details,
        ))
    })
    .await;
    let error = check(&client(service.address)).await.unwrap_err();
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
