//! A payment that must be made once, to a ledger that commits it and then does not answer.
//!
//! ```text
//! cargo run -p integrations --example payment
//! ```
//!
//! Nobody can tell a request that was lost from an answer that was lost. There are two ways to be safe:
//! to retry only what provably never ran, or to give the server a key by which it knows a request again. The example
//! `payment_service` shows the server's side of the key.

use integrations::ledger::Ledger;
use reattempt::reqwest::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::{RetryEvent, retry};
use reqwest::Client;

/// Pays, to a server that knows no keys: an attempt that may have run is not made again.
#[retry(attempts = 3, base = "10ms", timeout = "300ms", idempotent = false, on_retry = tell)]
pub(crate) async fn pay_once(client: &Client, ledger: &str) -> Result<(), RequestError> {
    client.post(ledger).send().await?.check()?;
    Ok(())
}

/// Pays, to a server that knows a request again by its key, which is the same for every attempt of a
/// call and another for every other call.
#[retry(attempts = 3, base = "10ms", timeout = "300ms", on_retry = tell)]
pub(crate) async fn pay_with_key(client: &Client, ledger: &str) -> Result<(), RequestError> {
    let request = client.post(ledger).attempt_headers();
    request.send().await?.check()?;
    Ok(())
}

fn tell(event: &RetryEvent<'_, RequestError>) {
    let failure = event
        .error()
        .map_or_else(|| "timed out".to_owned(), ToString::to_string);
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {failure} ({verdict}), again in {delay:.0?}");
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::builder().no_proxy().build()?;

    println!("`idempotent = false`, and a ledger that commits and does not answer:");
    let ledger = Ledger::start(1).await;
    let error = pay_once(&client, &ledger.url()).await.unwrap_err();
    println!("  {error}; entries in the ledger: {}", ledger.entries());
    assert_eq!(ledger.entries(), 1);

    println!("With an idempotency key, and a ledger that does so twice:");
    let ledger = Ledger::start(2).await;
    pay_with_key(&client, &ledger.url()).await?;
    println!(
        "  paid; requests: {}, entries in the ledger: {}",
        ledger.keys().len(),
        ledger.entries()
    );
    assert_eq!(ledger.entries(), 1);
    Ok(())
}
