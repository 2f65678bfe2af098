//! An HTTP client with `hyper` and `hyper-util`, and with an error enum that forwards the verdicts of its fields.
//!
//! ```text
//! cargo run -p integrations --example hyper_client
//! ```
//!
//! The server is in this program. It resets a connection, cuts a body short, and throttles.

use std::net::SocketAddr;

use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use integrations::loopback::{Answer, Loopback};
use reattempt::http_1::{StatusError, check};
use reattempt::{RetryEvent, Retryable, Stopped, retry};

/// Why a request failed. With `forward`, the field decides the verdict and the hint.
#[derive(Debug, thiserror::Error, Retryable)]
enum FetchError {
    #[error("the request failed")]
    #[retryable(forward)]
    Request(#[from] hyper_util::client::legacy::Error),
    #[error("the body could not be read")]
    #[retryable(forward)]
    Body(#[from] hyper::Error),
    #[error(transparent)]
    #[retryable(forward)]
    Status(#[from] StatusError),
    #[error("the page is no text")]
    #[retryable(permanent)]
    Text(#[from] std::string::FromUtf8Error),
    /// A timeout or the deadline stopped the call.
    #[error(transparent)]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

#[retry(attempts = 5, base = "50ms", timeout = "500ms", deadline = "8s", on_retry = tell)]
async fn fetch(
    client: &Client<HttpConnector, Empty<Bytes>>,
    address: SocketAddr,
) -> Result<String, FetchError> {
    let request = Request::get(format!("http://{address}/")).body(Empty::new());
    // `hyper` returns `Ok` for any status. `check` turns an error status into an error.
    let response = check(client.request(request.expect("a valid request")).await?)?;
    let body = response.into_body().collect().await?.to_bytes();
    Ok(String::from_utf8(body.to_vec())?)
}

fn tell(event: &RetryEvent<'_, FetchError>) {
    let failure = event
        .error()
        .map_or_else(|| "timed out".to_owned(), ToString::to_string);
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {failure} ({verdict}), again in {delay:.0?}");
}

const TRUNCATED: Answer = Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf");
const THROTTLED: Answer = Answer::Bytes(
    b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
);
const NO_TEXT: Answer =
    Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n\xff\xfe");

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FetchError> {
    let client = Client::builder(TokioExecutor::new()).build_http();

    println!("A server that resets the connection, cuts a body short, and then throttles:");
    let server = Loopback::start(&[Answer::Reset, TRUNCATED, THROTTLED]).await;
    let body = fetch(&client, server.address).await?;
    println!("  {body:?} after {} requests", server.calls());

    println!("A page that is not text, which another attempt would not change:");
    let server = Loopback::start(&[NO_TEXT]).await;
    let error = fetch(&client, server.address).await.unwrap_err();
    println!(
        "  {error} ({}) after {} request",
        error.verdict(),
        server.calls()
    );
    assert_eq!(server.calls(), 1);
    Ok(())
}
