//! Prices, from an HTTP server.

use reattempt::reqwest_0_13::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::retry;
use reqwest::Client;

use crate::presets::CATALOGUE;

/// Gets the price of a product, in cents.
///
/// The attribute has no rule, so the error type decides what is retried. `check` turns a status such as 503 into an
/// error, and keeps its `Retry-After`. `attempt_headers` sends the server which attempt this is, and how long it is
/// waited for. The span of the attempt then has the number of retries too.
#[retry(policy = CATALOGUE)]
pub(crate) async fn price(
    client: &Client,
    catalogue: &str,
    product: u32,
) -> Result<i64, RequestError> {
    let url = format!("{catalogue}/products/{product}/price");
    let request = client.get(url).attempt_headers();
    let response = request.send().await?.check()?;
    Ok(response.json().await?)
}

#[cfg(test)]
mod tests {
    use integrations::loopback::{Answer, Loopback};
    use reattempt::testing;

    use super::*;

    const UNAVAILABLE: Answer = Answer::Bytes(
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    );
    const PRICE: Answer =
        Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\n199");

    #[tokio::test]
    async fn each_request_tells_the_catalogue_which_attempt_it_is_and_how_long_it_is_waited_for() {
        let server = Loopback::start(&[UNAVAILABLE, PRICE]).await;
        let client = Client::builder().no_proxy().build().unwrap();
        let url = format!("http://{}", server.address);
        let (result, _) = testing::Scope::new().run(price(&client, &url, 1)).await;
        assert_eq!(result.unwrap(), 199);
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{requests:?}");
        for (request, attempt) in requests.iter().zip(1..) {
            let number = format!("x-attempt-number: {attempt}\r\n");
            assert!(request.contains(&number), "no {number} in {request}");
            assert!(
                request.contains("x-timeout-ms: "),
                "no time left in {request}"
            );
        }
    }
}
