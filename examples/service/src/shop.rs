//! The checkout, which calls all three upstreams.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use deadpool_postgres::Pool;
use reattempt::http_1::DeadlineLayer;
use redis::RedisError;
use redis::aio::ConnectionManager;
use reqwest::Client;
use serde::{Deserialize, Serialize};

use crate::orders::{self, OrderError};
use crate::upstream::Upstreams;
use crate::{Failure, cart, catalogue};

/// How long a customer waits at most. All calls within a request keep this deadline, or a nearer one that the client
/// sends.
const PATIENCE: Duration = Duration::from_secs(4);

/// A client for each upstream.
#[derive(Clone)]
struct Shop {
    http: Client,
    catalogue: String,
    redis: ConnectionManager,
    postgres: Pool,
}

/// What a customer orders.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Checkout {
    pub(crate) customer: u32,
    pub(crate) product: u32,
}

/// `POST /checkout`.
///
/// # Errors
///
/// - A client cannot be made. None of them connects yet.
pub(crate) fn router(upstreams: &Upstreams) -> Result<Router, Failure> {
    let shop = Shop {
        http: Client::builder().no_proxy().build()?,
        catalogue: format!("http://{}", upstreams.catalogue.address),
        redis: cart::connect(&format!("redis://{}/", upstreams.cart.address))?,
        postgres: orders::pool(upstreams.database())?,
    };
    Ok(Router::new()
        .route("/checkout", post(checkout))
        .with_state(shop)
        .layer(DeadlineLayer::new().with_max(PATIENCE)))
}

async fn checkout(
    State(shop): State<Shop>,
    Json(wanted): Json<Checkout>,
) -> Result<String, CheckoutError> {
    shop.sell(&wanted).await
}

impl Shop {
    async fn sell(&self, wanted: &Checkout) -> Result<String, CheckoutError> {
        // The checkout goes on if a visit cannot be counted.
        let _: Result<u64, _> = cart::count_visit(&self.redis).await;
        cart::add(&self.redis, wanted.customer, wanted.product).await?;
        let cents = catalogue::price(&self.http, &self.catalogue, wanted.product).await?;
        orders::place(&self.postgres, wanted.customer, wanted.product, cents).await?;
        Ok(format!("product {} for {cents} cents", wanted.product))
    }
}

/// Why a checkout failed.
#[derive(Debug, thiserror::Error)]
enum CheckoutError {
    #[error("the cart: {0}")]
    Cart(#[from] reattempt::Error<RedisError>),
    #[error("the catalogue: {0}")]
    Catalogue(#[from] reattempt::reqwest_0_13::RequestError),
    #[error("the order: {0}")]
    Order(#[from] OrderError),
}

impl CheckoutError {
    /// Whether the last attempt reached a limit, so that the upstream may have done its work.
    fn is_stopped(&self) -> bool {
        match self {
            Self::Cart(error) => matches!(error, reattempt::Error::Stopped(_)),
            Self::Catalogue(error) => {
                matches!(error, reattempt::reqwest_0_13::RequestError::Stopped(_))
            }
            Self::Order(error) => matches!(error, OrderError::Stopped(_)),
        }
    }
}

impl IntoResponse for CheckoutError {
    fn into_response(self) -> Response {
        let status = if self.is_stopped() {
            StatusCode::GATEWAY_TIMEOUT
        } else {
            StatusCode::BAD_GATEWAY
        };
        (status, self.to_string()).into_response()
    }
}
