//! Prices, from an HTTP server.

use reattempt::reqwest::{RequestError, ResponseExt as _};
use reattempt::retry;
use reqwest::Client;

use crate::presets::CATALOGUE;

/// Gets the price of a product, in cents.
///
/// There is no rule in the attribute: the error knows whether another attempt may help. `check` makes an error of
/// a status such as 503, and keeps its `Retry-After`.
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
