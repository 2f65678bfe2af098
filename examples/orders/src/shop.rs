//! The shop: a customer waits for its answer.

use std::future::IntoFuture as _;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use axum::extract::State as Shared;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use reattempt::http_1::IDEMPOTENCY_KEY;
use reattempt::{Policy, Retryable as _, Verdict};
use sqlx::PgPool;
use tokio::net::TcpListener;

use crate::charge::{Order, Payments, charge};
use crate::orders::{self, State};

/// As long as a customer waits.
const HURRIED: Policy = Policy::new()
    .with_attempts(3)
    .with_timeout(Duration::from_millis(400))
    .with_deadline(Duration::from_secs(1));

#[derive(Clone)]
struct Shop {
    pool: PgPool,
    payments: Payments,
}

/// `POST /orders`.
///
/// The key is that of the customer's call: a customer who got no answer sends the order again, and it is the same order.
async fn order(
    Shared(shop): Shared<Shop>,
    headers: HeaderMap,
    Json(order): Json<Order>,
) -> StatusCode {
    let Some(key) = headers
        .get(IDEMPOTENCY_KEY)
        .and_then(|key| key.to_str().ok())
    else {
        return StatusCode::BAD_REQUEST;
    };
    let (state, answer) = match charge(&shop.payments, HURRIED, key, &order).await {
        Ok(()) => (State::Charged, StatusCode::CREATED),
        Err(error) if error.verdict() == Verdict::Permanent => {
            (State::Refused, StatusCode::PAYMENT_REQUIRED)
        }
        // The service is down, or may have charged the order. With the same key, a worker can find out.
        Err(_) => (State::Queued, StatusCode::ACCEPTED),
    };
    match orders::store(&shop.pool, key, &order, state).await {
        Ok(()) => answer,
        // The customer has no promise, and asks again.
        Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Starts it on a free port, and gives its URL.
pub(crate) async fn start(pool: PgPool, payments: Payments) -> io::Result<String> {
    let router = Router::new().route("/orders", post(order));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}/orders", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, router.with_state(Shop { pool, payments })).into_future());
    Ok(url)
}
