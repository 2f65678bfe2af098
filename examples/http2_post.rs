//! A POST over HTTP/2: retried if the server refused its stream, and not if the server may have begun it.
//!
//! ```text
//! cargo run -p integrations --example http2_post
//! ```
//!
//! The server is in this program: it resets streams by a script, with the crate `h2`. In your `Cargo.toml`:
//! `reattempt = { version = "0.1", features = ["reqwest-0_13"] }`, and the feature `http2` of `reqwest`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use h2::Reason;
use reattempt::reqwest_0_13::{RequestError, ResponseExt as _};
use reattempt::{RetryEvent, retry, with_report};
use reqwest::{Client, StatusCode};
use tokio::net::TcpListener;

/// Places an order, which must not happen twice.
///
/// With `idempotent = false`, the call is retried only if the order certainly never ran. HTTP/2 has a code for it: a
/// server that is overloaded or shuts down resets a stream that it has not processed, with the code `REFUSED_STREAM`.
#[retry(attempts = 5, base = "20ms", idempotent = false, on_retry = tell)]
async fn order(client: &Client, url: &str) -> Result<StatusCode, RequestError> {
    let response = client.post(url).body("tea").send().await?;
    Ok(response.check()?.status())
}

fn tell(event: &RetryEvent<'_, RequestError>) {
    let failure = event
        .error()
        .map_or_else(|| "timed out".to_owned(), in_words);
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {failure} ({verdict}), again in {delay:.0?}");
}

/// The innermost source of the error: the reason of HTTP/2, below the errors of `reqwest` and `hyper`.
fn in_words(error: &RequestError) -> String {
    let first: &dyn std::error::Error = error;
    let innermost = std::iter::successors(Some(first), |&error| error.source()).last();
    innermost.map(ToString::to_string).unwrap_or_default()
}

/// Resets the first streams for these reasons, and answers the others. Counts the orders that it began.
async fn server(resets: &'static [Reason]) -> std::io::Result<(SocketAddr, Arc<AtomicU32>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let begun = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&begun);
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(stream).await.unwrap();
        let mut resets = resets.iter();
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            let reset = resets.next();
            if reset != Some(&Reason::REFUSED_STREAM) {
                counted.fetch_add(1, Ordering::Relaxed);
            }
            if let Some(reason) = reset {
                respond.send_reset(*reason);
            } else {
                respond
                    .send_response(http::Response::new(()), true)
                    .unwrap();
            }
        }
    });
    Ok((address, begun))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::builder()
        .no_proxy()
        .http2_prior_knowledge()
        // `reqwest` sends a refused stream again by itself, twice and at once. Retries of two loops multiply.
        .retry(reqwest::retry::never())
        .build()?;

    println!("A server that refuses the stream, twice:");
    let (address, begun) = server(&[Reason::REFUSED_STREAM; 2]).await?;
    let (result, report) = with_report(order(&client, &format!("http://{address}/"))).await;
    println!("  {}, {} order", result?, begun.load(Ordering::Relaxed));
    assert_eq!(report.map(|report| report.attempts()), Some(3));
    assert_eq!(begun.load(Ordering::Relaxed), 1);

    println!("A server that fails after it began:");
    let (address, begun) = server(&[Reason::INTERNAL_ERROR]).await?;
    let (result, report) = with_report(order(&client, &format!("http://{address}/"))).await;
    let error = result.unwrap_err();
    println!("  not retried: {}", in_words(&error));
    assert_eq!(report.map(|report| report.attempts()), Some(1));
    assert_eq!(begun.load(Ordering::Relaxed), 1);
    Ok(())
}
