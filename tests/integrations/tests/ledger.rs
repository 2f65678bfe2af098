//! With a ledger that commits and does not answer, a call does not retry a request that may have run.

#[path = "../../../examples/payment.rs"]
#[allow(dead_code, reason = "the example's `main` is not run here")]
mod example;

use std::time::Duration;

use example::{pay_once, pay_with_key};
use integrations::ledger::Ledger;
use integrations::loopback::later;
use reattempt::reqwest::{RequestError, ResponseExt as _};
use reattempt::{Outcome, retry};
use reqwest::Client;

fn client() -> Client {
    let builder = Client::builder().no_proxy().pool_max_idle_per_host(0);
    builder.build().unwrap()
}

#[tokio::test]
async fn without_a_key_a_request_makes_one_entry_and_gives_an_error() {
    let ledger = Ledger::start_skipping(1).await;
    let error = pay_once(&client(), &ledger.url()).await.unwrap_err();
    let RequestError::Stopped(stopped) = error else {
        panic!("{error:?}")
    };
    assert_eq!(
        (stopped.outcome(), stopped.attempts()),
        (Outcome::Timeout, 1)
    );
    assert_eq!(ledger.entries(), 1);
}

#[tokio::test]
async fn without_a_key_a_ledger_that_answers_has_one_entry() {
    let ledger = Ledger::start(0).await;
    pay_once(&client(), &ledger.url()).await.unwrap();
    assert_eq!(ledger.entries(), 1);
}

#[tokio::test]
async fn without_a_key_a_request_that_was_never_sent_is_made_again() {
    #[retry(
        attempts = "unlimited",
        backoff = "constant",
        base = "10ms",
        budget = "none",
        idempotent = false
    )]
    async fn pay_patiently(client: &Client, url: &str) -> Result<(), RequestError> {
        client.post(url).send().await?.check()?;
        Ok(())
    }
    let (address, socket) = later();
    let url = format!("http://{address}/payments");
    let payment = tokio::spawn(async move { pay_patiently(&client(), &url).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!payment.is_finished());
    let ledger = Ledger::start_on(socket);
    payment.await.unwrap().unwrap();
    assert_eq!(ledger.entries(), 1);
}

#[tokio::test]
async fn with_a_key_a_request_makes_one_entry_however_often_it_is_sent() {
    let ledger = Ledger::start_skipping(2).await;
    pay_with_key(&client(), &ledger.url()).await.unwrap();
    assert_eq!(ledger.entries(), 1);
    let keys = ledger.keys();
    assert_eq!(keys.len(), 3);
    assert!(keys[0].is_some());
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");

    // Another call makes another payment.
    pay_with_key(&client(), &ledger.url()).await.unwrap();
    assert_eq!(ledger.entries(), 2);
}

/// This result is documented, though not wanted: an annotated function may run again by default.
#[tokio::test]
async fn a_function_that_is_only_declared_idempotent_pays_twice() {
    #[retry(attempts = 3, base = "1ms", timeout = "20s", idempotent = true)]
    async fn pay(client: &Client, url: &str) -> Result<(), RequestError> {
        client.post(url).send().await?.check()?;
        Ok(())
    }
    let ledger = Ledger::start_skipping(1).await;
    pay(&client(), &ledger.url()).await.unwrap();
    assert_eq!(ledger.entries(), 2);
}
