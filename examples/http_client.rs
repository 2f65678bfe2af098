//! An HTTP client with `reqwest`: short faults of the network and the server are retried, and permanent errors are
//! returned at once.
//!
//! ```text
//! cargo run -p integrations --example http_client
//! ```
//!
//! The server is in this program. It resets a connection, stalls, and answers 503 with a delay of one second.

use std::error::Error;
use std::time::{Duration, Instant};

use integrations::loopback::{Answer, Loopback};
use reattempt::reqwest_0_13::{RequestError, ResponseExt as _};
use reattempt::{RetryEvent, Retryable as _, retry};
use reqwest::Client;

/// Gets a page. The attribute has no rule, so the error type decides what is retried.
///
/// `check` turns a response with an error status into an error, and keeps its `Retry-After`.
#[retry(attempts = 5, base = "50ms", timeout = "500ms", deadline = "8s", on_retry = tell)]
async fn fetch(client: &Client, url: &str) -> Result<String, RequestError> {
    let response = client.get(url).send().await?.check()?;
    Ok(response.text().await?)
}

fn tell(event: &RetryEvent<'_, RequestError>) {
    let failure = event.error().map_or_else(|| "timed out".to_owned(), cause);
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {failure} ({verdict}), again in {delay:.0?}");
}

/// The innermost source, which says what happened: `RequestError` itself only says in which step.
fn cause(error: &RequestError) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

const OVERLOADED: Answer = Answer::Bytes(
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
);
const MISSING: Answer =
    Answer::Bytes(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::builder().no_proxy().build()?;

    println!("A server that resets the connection, stalls, and then is overloaded:");
    let server = Loopback::start(&[Answer::Reset, Answer::Stall, OVERLOADED]).await;
    let began = Instant::now();
    let body = fetch(&client, &server.url()).await?;
    println!("  {body:?} after {} requests", server.calls());
    // The delay that the server asked for is a lower bound.
    assert!(began.elapsed() >= Duration::from_millis(1500));

    println!("A page that is not there:");
    let server = Loopback::start(&[MISSING]).await;
    let error = fetch(&client, &server.url()).await.unwrap_err();
    println!(
        "  {} ({}) after {} request",
        cause(&error),
        error.verdict(),
        server.calls()
    );
    assert_eq!(server.calls(), 1);
    Ok(())
}
