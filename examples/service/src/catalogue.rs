//! Prices, from an HTTP server.

use reattempt::reqwest::{RequestError, ResponseExt as _};
use reattempt::retry;
use reqwest::Client;

use crate::presets::CATALOGUE;

/// Gets the price of a product, in cents.
///
/// The attribute has no rule, so the error type decides what is retried. `check` turns a status such as 503 into an
/// error, and keeps its `Retry-After`.
#[retry(policy = &CATALOGUE)]
pub(crate) async fn price(
    client: &Client,
    catalogue: &str,
    product: u32,
) -> Result<i64, RequestError> {
    let url = format!("{catalogue}/products/{product}/price");
    let response = client.get(url).send().await?.check()?;
    Ok(response.json().await?)
}
