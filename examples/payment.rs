//! A payment that must be made once, with a ledger that commits it and then does not answer.
//!
//! ```text
//! cargo run -p integrations --example payment
//! ```
//!
//! A client cannot tell whether the request was lost, or the answer. There are two safe ways: retry only if the request
//! certainly never ran, or send a key by which the server recognizes a repeated request. The example `payment_service`
//! shows the server's side of the key.

use std::error::Error;

use integrations::ledger::Ledger;
use reattempt::reqwest::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::{RetryEvent, retry};
use reqwest::Client;

/// Pays, with a server that does not know keys. After an attempt that may have run there is no other.
#[retry(attempts = 3, base = "10ms", timeout = "2s", idempotent = false, on_retry = tell)]
pub(crate) async fn pay_once(client: &Client, ledger: &str) -> Result<(), RequestError> {
    client.post(ledger).send().await?.check()?;
    Ok(())
}

/// Pays, with a server that recognizes a request by its key. All attempts of a call have the same key; another call has
/// another one.
#[retry(attempts = 3, base = "10ms", timeout = "2s", on_retry = tell)]
pub(crate) async fn pay_with_key(client: &Client, ledger: &str) -> Result<(), RequestError> {
    let request = client.post(ledger).attempt_headers();
    request.send().await?.check()?;
    Ok(())
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

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::builder().no_proxy().build()?;

    println!("`idempotent = false`, and a ledger that commits and does not answer:");
    let ledger = Ledger::start(1).await;
    let error = pay_once(&client, &ledger.url()).await.unwrap_err();
    println!(
        "  {}; entries in the ledger: {}",
        cause(&error),
        ledger.entries()
    );
    assert_eq!(ledger.entries(), 1);

    println!("With an idempotency key, and a ledger that does not answer twice:");
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
