//! Hedges over sockets: what dropped attempts do to a request with a key, and to a connection of HTTP/2.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use futures::future::join_all;
use integrations::grpc::{Script, Service};
use reattempt::reqwest_0_13::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::testing::Scope;
use reattempt::{Attempt, Retryable as _, retry};
use reqwest::Client;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::{Instant, sleep};
use tonic::Status;
use tonic::transport::{Channel, Server};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

/// Of two requests with one key, the service works on one, and answers 409 to the other.
#[tokio::test]
async fn a_409_to_one_of_two_requests_with_a_key_does_not_end_the_other() {
    #[retry(hedge = "20ms")]
    async fn pay(client: &Client, address: SocketAddr) -> Result<(), RequestError> {
        let request = client.post(format!("http://{address}/"));
        request.attempt_headers().send().await?.check()?;
        Ok(())
    }

    for works_on in [1, 2] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicU32::new(0));
        let (counted, both) = (Arc::clone(&requests), Arc::new(Notify::new()));
        let handler = post(async move || {
            let number = counted.fetch_add(1, Ordering::Relaxed) + 1;
            // Each answer waits until both requests are there, and the success until after the conflict.
            if number == 1 {
                both.notified().await;
            } else {
                both.notify_one();
            }
            if number == works_on {
                sleep(Duration::from_millis(50)).await;
                return StatusCode::CREATED;
            }
            StatusCode::CONFLICT
        });
        let app = Router::new().route("/", handler);
        tokio::spawn(async { axum::serve(listener, app).await });
        let client = Client::builder().no_proxy().build().unwrap();
        let scope = Scope::new().with_waits(true);
        let (paid, _) = scope.run(pay(&client, address)).await;
        paid.unwrap();
        assert_eq!(requests.load(Ordering::Relaxed), 2);
    }
}

type Health = HealthClient<Channel>;

async fn once(client: &Health) -> Result<(), Status> {
    client.clone().check(HealthCheckRequest::default()).await?;
    Ok(())
}

#[retry(hedge = "25ms")]
async fn hedged(
    client: &Health,
    beside: &Health,
    lost: &AtomicU32,
) -> Result<(), reattempt::Error<Status>> {
    struct Lost<'l>(Option<&'l AtomicU32>);
    impl Drop for Lost<'_> {
        fn drop(&mut self) {
            if let Some(lost) = self.0 {
                lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    let mut unless_done = Lost(Some(lost));
    let is_hedge = Attempt::current().is_some_and(|attempt| attempt.is_hedge());
    let result = once(if is_hedge { beside } else { client }).await;
    unless_done.0 = None;
    Ok(result?)
}

/// Makes calls at once, whose first attempts get no answer. Each may hedge. Returns how many attempts were dropped.
async fn lose(calls: u32, client: &Health, beside: &Health) -> u32 {
    let lost = AtomicU32::new(0);
    let call = || {
        let scope = Scope::new().with_waits(true);
        scope.run(hedged(client, beside, &lost))
    };
    for (result, _) in join_all((0..calls).map(|_| call())).await {
        result.unwrap();
    }
    lost.into_inner()
}

#[tokio::test]
async fn three_thousand_losers_leave_a_channel_open() {
    let (service, healthy) = (
        Service::start(|_| Some(Status::unknown("stall"))).await,
        Service::start(|_| None).await,
    );
    let (client, beside) = (service.client(), healthy.client());
    let mut lost = 0;
    for _ in 0..300 {
        lost += lose(10, &client, &beside).await;
    }
    assert_eq!((lost, service.calls()), (3_000, 3_000));
    assert_eq!(service.connections(), 1);
}

/// Where the service below and its test meet: when it stands still, and when it goes on.
static STILL: Barrier = Barrier::new(2);

/// A service with a thread of its own, which stands still in its second call.
fn freezing(server: Server) -> (Runtime, Service) {
    const SCRIPT: Script = |call| {
        if call == 2 {
            STILL.wait();
            STILL.wait();
        }
        None
    };
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let (ready, started) = std::sync::mpsc::channel();
    runtime.spawn(async move { ready.send(Service::start_as(server, SCRIPT).await) });
    (runtime, started.recv().unwrap())
}

/// The result of a call on the same channel, made while the service stands still, and how many connections it had then.
async fn beside_losers(calls: u32, server: Server) -> (Result<(), Status>, usize) {
    let (frozen, healthy) = (freezing(server), Service::start(|_| None).await);
    let (runtime, frozen) = frozen;
    let client = frozen.client();
    once(&client).await.unwrap();
    let freezes = tokio::spawn({
        let client = client.clone();
        async move { once(&client).await }
    });
    spawn_blocking(|| STILL.wait()).await.unwrap();
    let beside = tokio::spawn({
        let client = client.clone();
        async move { once(&client).await }
    });
    assert_eq!(lose(calls, &client, &healthy.client()).await, calls);
    // The client runs in this thread too, and has sent all by then.
    sleep(Duration::from_millis(50)).await;
    STILL.wait();
    let result = beside.await.unwrap();
    let _ = freezes.await.unwrap();
    // On a new connection, if the other was closed.
    once(&client).await.unwrap();
    let connections = frozen.connections();
    runtime.shutdown_background();
    (result, connections)
}

#[tokio::test]
async fn a_server_that_stands_still_closes_a_connection_with_more_than_20_losers() {
    let (result, connections) = beside_losers(20, Server::builder()).await;
    assert!(result.is_ok() && connections == 1, "{result:?}");

    let (result, connections) = beside_losers(21, Server::builder()).await;
    let status = result.unwrap_err();
    assert!(status.verdict().is_retryable(), "{status:?}");
    assert_eq!(connections, 2);

    let patient = Server::builder().http2_max_pending_accept_reset_streams(Some(1_000));
    let (result, connections) = beside_losers(200, patient).await;
    assert!(result.is_ok() && connections == 1, "{result:?}");
}

/// More than 50 within a second, and more than 1,024 in all.
#[tokio::test]
async fn answers_that_cross_many_losers_make_the_client_close_its_connection() {
    const CALLS: usize = 199;
    /// While this test has it, the service stands still.
    static GATE: Mutex<()> = Mutex::new(());
    const SCRIPT: Script = |_| {
        drop(GATE.lock());
        None
    };
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let (ready, started) = std::sync::mpsc::channel();
    runtime.spawn(async move { ready.send(Service::start(SCRIPT).await) });
    let service = started.recv().unwrap();
    let client = service.client();
    let began = Instant::now();
    once(&client).await.unwrap();
    loop {
        let answered = service.calls() + CALLS + 1;
        let gate = GATE.lock();
        let mut calls = Box::pin(join_all((0..CALLS).map(|_| once(&client))));
        // It comes after them, and so does its answer.
        let beside = tokio::spawn({
            let client = client.clone();
            async move { once(&client).await }
        });
        // All are sent: the client runs in this thread too, and needs only its turns.
        let turns = async {
            for _ in 0..100 {
                yield_now().await;
            }
        };
        tokio::select! {
            biased;
            _ = calls.as_mut() => unreachable!("the service stands still"),
            () = turns => {}
        }
        drop(gate);
        // The client reads no answer before the calls are dropped. On a loaded machine it may not have sent all: then this round
        // has fewer losers.
        let round = Instant::now();
        while service.calls() < answered && round.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(50));
        drop(calls);
        // A call beside a connection that closes may still get its answer, or learn no more than that it is closed. Then the next
        // connection has to show why.
        if let Err(status) = beside.await.unwrap() {
            let why = format!("{status:?}");
            assert!(status.verdict().is_retryable(), "{why}");
            if why.contains("too_many_internal_resets") {
                break;
            }
        }
        assert!(began.elapsed() < Duration::from_mins(1), "no call says why");
    }
    // A retry gets a new one.
    lose(1, &client, &client).await;
    assert!(service.connections() > 1);
    runtime.shutdown_background();
}
