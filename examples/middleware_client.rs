//! A client of `reqwest-middleware` that retries all its requests.
//!
//! ```text
//! cargo run -p integrations --example middleware_client
//! ```
//!
//! The server is in this program. It carries out the first request, but does not answer it.

use std::time::Duration;

use integrations::ledger::Ledger;
use reattempt::http_1::IDEMPOTENCY_KEY;
use reattempt::reqwest_middleware_0_5::{HttpRequests, RetryLayer};
use reattempt::{Budget, Outcome, Policy, Stopped};
use reqwest::{Client, Method};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Error};

const POLICY: Policy = Policy::new()
    .with_attempts(3)
    .with_base(Duration::from_millis(10))
    .with_timeout(Duration::from_secs(1));

/// All requests to the shop share it.
static SHOP: Budget = Budget::new();

fn client() -> ClientWithMiddleware {
    let client = Client::builder().no_proxy().build().unwrap();
    let retry = RetryLayer::new(POLICY).with_name("shop").with_budget(&SHOP);
    let requests = HttpRequests::new().with_attempt_headers();
    // What is added after it runs for each attempt, and what is added before it once for each request.
    ClientBuilder::new(client)
        .with(retry.with_requests(requests))
        .build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let client = client();
    for (method, key, expected) in [
        (Method::GET, None, 2),
        (Method::POST, Some("order-7"), 2),
        (Method::POST, None, 1),
    ] {
        let ledger = Ledger::start(1).await;
        let mut request = client.request(method.clone(), ledger.url());
        if let Some(key) = key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        let result = request.send().await;
        println!(
            "requests of a {method} with the key {key:?}: {}",
            ledger.keys().len()
        );
        assert_eq!(ledger.keys().len(), expected);
        match result {
            Ok(response) => assert!(response.status().is_success()),
            // A POST without a key may have run, so it is not sent again.
            Err(Error::Middleware(error)) => {
                let stopped: &Stopped = error.downcast_ref().unwrap();
                println!("  {stopped}");
                assert_eq!(stopped.outcome(), Outcome::Timeout);
            }
            Err(error) => panic!("{error}"),
        }
    }
}
