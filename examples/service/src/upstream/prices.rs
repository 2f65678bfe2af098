//! An HTTP server with the price of each product.

use std::future::IntoFuture as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use axum::extract::{Path, State};
use axum::http::{StatusCode, header::RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::health::{Health, REQUESTS_PER_503};

/// Starts the server on a free port of 127.0.0.1.
pub(crate) async fn start(health: watch::Receiver<Health>) -> io::Result<SocketAddr> {
    let router = Router::new()
        .route("/products/{product}/price", get(price))
        .with_state(health);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(axum::serve(listener, router).into_future());
    Ok(address)
}

/// The price in cents. While the server is flaky, one request in [`REQUESTS_PER_503`] gets 503, and one in fifty gets 429
/// with a delay of one second.
async fn price(
    State(health): State<watch::Receiver<Health>>,
    Path(product): Path<u32>,
) -> Response {
    let flaky = *health.borrow() == Health::Flaky;
    if flaky && rand::random_ratio(1, REQUESTS_PER_503) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    if flaky && rand::random_ratio(1, 50) {
        return (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "1")]).into_response();
    }
    Json(i64::from(product) * 100 + 99).into_response()
}
