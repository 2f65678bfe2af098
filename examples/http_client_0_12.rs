//! An HTTP client with `reqwest` 0.12, in an error enum of your own.
//!
//! ```text
//! cargo run -p integrations --example http_client_0_12
//! ```
//!
//! In your `Cargo.toml`: `reattempt = { version = "0.1", features = ["reqwest-0_12"] }`. The server is in this
//! program. It resets a connection, and then is overloaded.

use integrations::loopback::{Answer, Loopback};
use reattempt::reqwest_0_12::ResponseExt as _;
use reattempt::{RetryEvent, Retryable, Stopped, retry};
// In your crate this is `reqwest`. This workspace has both versions.
use reqwest_0_12 as reqwest;

/// Each field has its own verdict: the client's error, and the status of a response.
#[derive(Debug, thiserror::Error, Retryable)]
#[retryable(forward)]
enum FetchError {
    #[error("no response")]
    Request(#[from] reqwest::Error),
    #[error(transparent)]
    Status(#[from] reattempt::http::StatusError),
    #[error("stopped")]
    Stopped(#[from] Stopped),
}

#[retry(attempts = 5, base = "50ms", timeout = "500ms", deadline = "8s", on_retry = tell)]
async fn fetch(client: &reqwest::Client, url: &str) -> Result<String, FetchError> {
    let response = client.get(url).send().await?.check()?;
    Ok(response.text().await?)
}

fn tell(event: &RetryEvent<'_, FetchError>) {
    let failure = event
        .error()
        .map_or_else(|| "timed out".to_owned(), ToString::to_string);
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {failure} ({verdict}), again in {delay:.0?}");
}

const OVERLOADED: Answer = Answer::Bytes(
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    println!("A server that resets the connection, and then is overloaded:");
    let server = Loopback::start(&[Answer::Reset, OVERLOADED]).await;
    let body = fetch(&client, &server.url()).await?;
    println!("  {body:?} after {} requests", server.calls());
    assert_eq!(server.calls(), 3);
    Ok(())
}
