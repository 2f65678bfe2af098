//! The layer that keeps the deadline of a request, in servers of axum, hyper and tonic.

use std::convert::Infallible;
use std::future::IntoFuture as _;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use futures::Stream;
use http::{HeaderValue, Request, StatusCode};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use integrations::grpc;
use integrations::written::Written;
use reattempt::http_1::{DeadlineLayer, TIMEOUT_MS, mark_given_up};
use reattempt::reqwest_0_13::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::tonic_0_14::set_attempt_metadata;
use reattempt::{deadline, propagate, retry};
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic::{Response, Status};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tower::util::MapFutureLayer;
use tower::{Layer as _, ServiceExt as _, service_fn};

/// What the handlers saw, in the order of their calls.
type Seen = Arc<Mutex<Vec<Option<Duration>>>>;

fn see(seen: &Seen) {
    seen.lock().unwrap().push(deadline::remaining());
}

/// How long the first service takes.
const PRICE: Duration = Duration::from_millis(200);

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// The first service, with hyper.
async fn prices(seen: Seen) -> SocketAddr {
    let price = async |State(seen): State<Seen>| {
        see(&seen);
        tokio::time::sleep(PRICE).await;
        "12.50"
    };
    let router = Router::new().route("/", get(price)).with_state(seen);
    let service = TowerToHyperService::new(DeadlineLayer::new().layer(router));
    let (listener, address) = listener().await;
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let connection = http1::Builder::new();
            let connection = connection.serve_connection(TokioIo::new(stream), service.clone());
            tokio::spawn(connection);
        }
    });
    address
}

struct Stock(Seen);

#[tonic::async_trait]
impl Health for Stock {
    async fn check(
        &self,
        _: tonic::Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        see(&self.0);
        Ok(Response::new(HealthCheckResponse::default()))
    }

    type WatchStream = Pin<Box<dyn Stream<Item = Result<HealthCheckResponse, Status>> + Send>>;

    async fn watch(
        &self,
        _: tonic::Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        Err(Status::unimplemented("watch"))
    }
}

/// The second service, with tonic.
async fn stock(seen: Seen) -> SocketAddr {
    let (listener, address) = listener().await;
    let server = Server::builder()
        .layer(DeadlineLayer::new())
        .add_service(HealthServer::new(Stock(seen)))
        .serve_with_incoming(TcpIncoming::from(listener));
    tokio::spawn(server);
    address
}

#[derive(Clone)]
struct Gateway {
    seen: Seen,
    client: reqwest::Client,
    prices: String,
    stock: HealthClient<Channel>,
}

/// The gateway, with axum.
async fn gateway(seen: &Seen) -> SocketAddr {
    let gateway = Gateway {
        seen: Arc::clone(seen),
        client: reqwest::Client::builder().no_proxy().build().unwrap(),
        prices: format!("http://{}/", prices(Arc::clone(seen)).await),
        stock: grpc::client(stock(Arc::clone(seen)).await),
    };
    let router = Router::new()
        .route("/", get(offer))
        .with_state(gateway)
        .layer(DeadlineLayer::new().with_max(Duration::from_secs(50)));
    let (listener, address) = listener().await;
    tokio::spawn(axum::serve(listener, router).into_future());
    address
}

async fn offer(State(gateway): State<Gateway>) -> String {
    see(&gateway.seen);
    let price = price(&gateway.client, &gateway.prices).await.unwrap();
    in_stock(&gateway.stock).await.unwrap();
    price
}

#[retry]
async fn price(client: &reqwest::Client, url: &str) -> Result<String, RequestError> {
    let request = client.get(url).attempt_headers();
    Ok(request.send().await?.check()?.text().await?)
}

#[retry]
async fn in_stock(client: &HealthClient<Channel>) -> Result<(), Status> {
    let mut request = tonic::Request::new(HealthCheckRequest::default());
    set_attempt_metadata(request.metadata_mut());
    client.clone().check(request).await?;
    Ok(())
}

#[tokio::test]
async fn each_service_behind_a_gateway_sees_the_time_that_is_left() {
    let seen = Seen::default();
    let url = format!("http://{}/", gateway(&seen).await);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    // The gateway allows 50 s, and the client less.
    let allowed = Duration::from_secs(30);
    let request = client
        .get(url)
        .header(TIMEOUT_MS, allowed.as_millis().to_string());
    let offer = request.send().await.unwrap().error_for_status().unwrap();
    assert_eq!(offer.text().await.unwrap(), "12.50");
    let seen = seen.lock().unwrap().clone();
    let [gateway, prices, stock] = [0, 1, 2].map(|place| seen[place].expect("a deadline"));
    assert!(gateway <= allowed, "{seen:?}");
    assert!(prices <= gateway, "{seen:?}");
    // Not of `prices`, whose header was rounded down to milliseconds. That of gRPC has microseconds.
    assert!(stock <= gateway.saturating_sub(PRICE), "{seen:?}");
    assert!(!stock.is_zero(), "{seen:?}");
}

/// The time that a handler has, with these headers.
async fn left<V: AsRef<[u8]>>(layer: DeadlineLayer, headers: &[(&str, V)]) -> Option<Duration> {
    let mut request = Request::new(());
    for (name, value) in headers {
        let name: http::HeaderName = name.parse().unwrap();
        let value = HeaderValue::from_bytes(value.as_ref()).unwrap();
        request.headers_mut().append(name, value);
    }
    let handler = service_fn(async |_: Request<()>| Ok::<_, Infallible>(deadline::remaining()));
    layer.layer(handler).oneshot(request).await.unwrap()
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[tokio::test(start_paused = true)]
async fn a_client_shortens_the_time_and_never_lengthens_it() {
    let layer = DeadlineLayer::new();
    let bounded = layer.with_max(ms(700));
    assert_eq!(left::<&str>(layer, &[]).await, None);
    assert_eq!(left::<&str>(bounded, &[]).await, Some(ms(700)));
    for (headers, of_client) in [
        (&[("x-timeout-ms", "300")] as &[(&str, &str)], 300),
        (&[("x-timeout-ms", "9000")], 9000),
        (&[("grpc-timeout", "300m")], 300),
        (&[("grpc-timeout", "9S")], 9000),
        (&[("grpc-timeout", "9S"), ("x-timeout-ms", "300")], 300),
        (&[("x-timeout-ms", "9000"), ("x-timeout-ms", "300")], 300),
        (&[("x-timeout-ms", "0")], 0),
    ] {
        assert_eq!(
            left(layer, headers).await,
            Some(ms(of_client)),
            "{headers:?}"
        );
        let expected = ms(of_client).min(ms(700));
        assert_eq!(left(bounded, headers).await, Some(expected), "{headers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_counts_from_the_request_also_for_what_a_handler_does_before_its_future() {
    let handler = service_fn(|_: Request<()>| {
        let at_once = deadline::remaining();
        let spawned = tokio::spawn(propagate(async { deadline::remaining() }));
        async move { Ok::<_, Infallible>((at_once, spawned.await.unwrap())) }
    });
    let service = DeadlineLayer::new().with_max(ms(700)).layer(handler);
    let left = service.oneshot(Request::new(())).await.unwrap();
    assert_eq!(left, (Some(ms(700)), Some(ms(700))));
}

#[tokio::test(start_paused = true)]
async fn a_handler_keeps_a_nearer_deadline_around_it() {
    let layer = DeadlineLayer::new().with_max(ms(700));
    assert_eq!(
        deadline::scope(ms(300), left::<&str>(layer, &[])).await,
        Some(ms(300))
    );
    assert_eq!(
        deadline::scope(ms(900), left::<&str>(layer, &[])).await,
        Some(ms(700))
    );
    let none = DeadlineLayer::new();
    assert_eq!(
        deadline::scope(ms(300), left::<&str>(none, &[])).await,
        Some(ms(300))
    );
}

#[tokio::test(start_paused = true)]
async fn junk_is_ignored_and_said_in_an_event() {
    let (written, _guard) = Written::subscribe(tracing::Level::DEBUG);
    let layer = DeadlineLayer::new().with_max(ms(700));
    let long = [b'9'; 4000].as_slice();
    for (name, value, shown) in [
        ("grpc-timeout", &b"soon"[..], r#"value="soon""#),
        ("grpc-timeout", b"-1S", r#"value="-1S""#),
        ("x-timeout-ms", b"1.5", r#"value="1.5""#),
        // A client cannot end the line of a log, nor fill it.
        ("x-timeout-ms", b"1\"\xff\t2", "value=\"1\\\"\u{fffd}\\t2\""),
        (
            "grpc-timeout",
            long,
            &format!("value=\"{}\"", "9".repeat(32)),
        ),
    ] {
        assert_eq!(left(layer, &[(name, value)]).await, Some(ms(700)), "{name}");
        let said = written.take();
        assert_eq!(said.lines().count(), 1, "{said}");
        for part in [
            "a header with a deadline is ignored",
            name,
            shown,
            "expected=",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    left(layer, &[("x-timeout-ms", "300")]).await;
    assert_eq!(written.take(), "");
}

#[retry(attempts = 3, base = "1ms", budget = "none")]
async fn ask(url: &str) -> Result<String, RequestError> {
    Ok(reqwest::get(url).await?.check()?.text().await?)
}

/// A service that asks the next one, or the last, which counts its requests and is down.
fn service(next: Option<SocketAddr>, requests: Arc<AtomicU32>) -> Router {
    let answer = async move || match next {
        Some(next) => ask(&format!("http://{next}/"))
            .await
            .map_err(|_| StatusCode::BAD_GATEWAY),
        None => {
            requests.fetch_add(1, Ordering::Relaxed);
            Err(StatusCode::SERVICE_UNAVAILABLE)
        }
    };
    Router::new().route("/", get(answer))
}

#[tokio::test]
async fn three_services_in_a_row_make_as_many_requests_as_the_last_of_them() {
    for (marks, expected) in [(true, 3), (false, 27)] {
        let (requests, mut next) = (Arc::new(AtomicU32::new(0)), None);
        for _ in 0..3 {
            let service = service(next, Arc::clone(&requests));
            let service = if marks {
                service.layer(MapFutureLayer::new(mark_given_up))
            } else {
                service
            };
            let (listener, address) = listener().await;
            tokio::spawn(axum::serve(listener, service).into_future());
            next = Some(address);
        }
        let failed = ask(&format!("http://{}/", next.unwrap())).await;
        assert!(failed.is_err());
        assert_eq!(requests.load(Ordering::Relaxed), expected);
    }
}
