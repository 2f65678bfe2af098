//! A service that keeps the deadline of its requests, and passes the time that is left to the next service.
//!
//! ```text
//! cargo run -p integrations --example deadline_service
//! ```
//!
//! The service uses `axum`, and calls another one with `reqwest`. A header of the request says how many milliseconds
//! the answer may take, and all retries within the request keep this deadline. The same layer reads the header of gRPC,
//! which `tonic::set_attempt_metadata` sends.

use std::future::IntoFuture as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use reattempt::deadline;
use reattempt::http_1::{DeadlineLayer, TIMEOUT_MS};
use reattempt::reqwest_0_13::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::retry;
use reqwest::Client;
use tokio::net::TcpListener;

/// The deadline of a request: what its client allows, and never more than this.
const DEADLINES: DeadlineLayer = DeadlineLayer::new().with_max(Duration::from_secs(10));

/// Calls the other service, and sends it the time that is left.
#[retry(attempts = 10, base = "100ms", timeout = "400ms")]
async fn price(client: &Client, url: &str) -> Result<String, RequestError> {
    let request = client.get(url).attempt_headers();
    Ok(request.send().await?.check()?.text().await?)
}

#[derive(Clone)]
struct Shop {
    client: Client,
    prices: String,
}

async fn offer(State(shop): State<Shop>) -> Result<String, StatusCode> {
    price(&shop.client, &shop.prices)
        .await
        .map_err(|error| match error {
            RequestError::Stopped(_) => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::BAD_GATEWAY,
        })
}

/// Whether the other service stalls.
static STALLS: AtomicBool = AtomicBool::new(false);

/// The other service: fails three times, answers, and stalls in the end.
async fn unsteady() -> Result<String, StatusCode> {
    static REQUESTS: AtomicU32 = AtomicU32::new(0);
    let request = REQUESTS.fetch_add(1, Ordering::Relaxed) + 1;
    println!(
        "  request {request}, time left: {:?}",
        deadline::remaining()
    );
    match request {
        ..=3 => Err(StatusCode::SERVICE_UNAVAILABLE),
        _ if STALLS.load(Ordering::Relaxed) => std::future::pending().await,
        _ => Ok("12.50".to_owned()),
    }
}

async fn serve(router: Router) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(axum::serve(listener, router).into_future());
    Ok(address)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::builder().no_proxy().build()?;
    let prices = serve(
        Router::new()
            .route("/price", get(unsteady))
            .layer(DEADLINES),
    )
    .await?;
    let shop = Shop {
        client: client.clone(),
        prices: format!("http://{prices}/price"),
    };
    let router = Router::new()
        .route("/offer", get(offer))
        .with_state(shop)
        .layer(DEADLINES);
    let address = serve(router).await?;

    for (allowed, expected) in [(9000, StatusCode::OK), (700, StatusCode::GATEWAY_TIMEOUT)] {
        println!("An offer within {allowed} ms:");
        STALLS.store(expected != StatusCode::OK, Ordering::Relaxed);
        let began = Instant::now();
        let response = client
            .get(format!("http://{address}/offer"))
            .header(TIMEOUT_MS, allowed)
            .send()
            .await?;
        let took = began.elapsed();
        println!("  {} after {took:.0?}", response.status());
        assert_eq!(response.status(), expected);
        // Without the deadline, ten attempts and the waits between them take 15 s or more, and the layer allows 10 s.
        assert!(took < Duration::from_millis(9500));
    }
    Ok(())
}
