//! The requests of a client whose middleware retries.

use http::Extensions;
use reattempt::Policy;
use reattempt::reqwest_middleware_0_5::RetryLayer;
use reqwest::{Client, Request, Response};
use reqwest_middleware::{ClientBuilder, Error, Middleware, Next};

use crate::{recorded, run};

/// Answers each request itself, with 503.
struct Busy;

#[async_trait::async_trait]
impl Middleware for Busy {
    async fn handle(&self, _: Request, _: &mut Extensions, _: Next<'_>) -> Result<Response, Error> {
        let response = http::Response::builder().status(503).body("").unwrap();
        Ok(response.into())
    }
}

#[test]
fn a_request_is_a_call_of_the_name_that_the_user_gave() {
    let retry = RetryLayer::new(Policy::new().with_attempts(3)).with_name("payments");
    let client = ClientBuilder::new(Client::new())
        .with(retry)
        .with(Busy)
        .build();
    let request = client.get("http://shop.example/").send();
    let (response, recorded) = recorded(|| run(request));
    assert_eq!(response.unwrap().status(), 503);
    for (series, value) in [
        (
            "reattempt_calls_total{function=payments,outcome=attempts_exhausted}",
            1,
        ),
        (
            "reattempt_attempts_total{function=payments,verdict=transient}",
            3,
        ),
    ] {
        assert_eq!(recorded.counter(series), value, "{recorded:?}");
    }
}
