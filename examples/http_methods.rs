//! An HTTP client that retries GET, PUT and DELETE, and POST only with an idempotency key.
//!
//! ```text
//! cargo run -p integrations --example http_methods
//! ```
//!
//! The server is in this program. It carries out the first request, but does not answer it.

use integrations::ledger::Ledger;
use reattempt::http_1::IDEMPOTENCY_KEY;
use reattempt::reqwest_0_13::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::{Outcome, retry};
use reqwest::{Client, Method, StatusCode};

struct Api {
    client: Client,
    url: String,
}

impl Api {
    /// Sends a request. `idempotent` is an expression over the arguments, read when the call begins.
    ///
    /// If it is false, the call retries only if the request was certainly never sent, and a timeout ends the call. Here
    /// the caller chooses the key. `attempt_headers` keeps it, and adds the other headers.
    #[retry(
        attempts = 3,
        base = "10ms",
        timeout = "1s",
        idempotent = method.is_idempotent() || key.is_some()
    )]
    async fn send(&self, method: Method, key: Option<&str>) -> Result<StatusCode, RequestError> {
        let mut request = self.client.request(method, &self.url);
        if let Some(key) = key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        Ok(request.attempt_headers().send().await?.check()?.status())
    }
}

/// Calls a server that does not answer the first request. Returns how many requests it got, and how the call ended.
async fn requests(method: Method, key: Option<&str>) -> (usize, Result<StatusCode, RequestError>) {
    let ledger = Ledger::start(1).await;
    let api = Api {
        client: Client::builder().no_proxy().build().unwrap(),
        url: ledger.url(),
    };
    let result = api.send(method, key).await;
    (ledger.keys().len(), result)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for (method, key) in [
        (Method::GET, None),
        (Method::PUT, None),
        (Method::DELETE, None),
        (Method::POST, Some("order-7")),
    ] {
        let (requests, result) = requests(method.clone(), key).await;
        println!("{method} with the key {key:?}: {requests} requests, {result:?}");
        assert_eq!((requests, result.unwrap()), (2, StatusCode::CREATED));
    }

    let (requests, result) = requests(Method::POST, None).await;
    println!("POST without a key: {requests} request, {result:?}");
    assert_eq!(requests, 1, "it may have run");
    let Err(RequestError::Stopped(stopped)) = result else {
        panic!("{result:?}")
    };
    assert_eq!(stopped.outcome(), Outcome::Timeout);
}
