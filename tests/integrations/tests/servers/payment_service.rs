//! The service of the example `payment_service` makes one payment for each key, whatever happens.

#[path = "../../../../examples/payment_service.rs"]
#[allow(dead_code, reason = "the example's `main` is not run here")]
mod example;

use std::sync::atomic::AtomicU32;

use example::{Service, TABLES, pay, start};
use futures::future::join_all;
use integrations::postgres::Server;
use reattempt::http_1::IDEMPOTENCY_KEY;
use reqwest::{Client, Response, StatusCode};

struct Shop {
    // The server ends when this value is dropped.
    _server: Server,
    database: tokio_postgres::Client,
    client: Client,
    url: String,
}

impl Shop {
    async fn open(losses: u32) -> Self {
        let server = Server::start().await.unwrap();
        let database = server.connect().await.unwrap();
        database.batch_execute(TABLES).await.unwrap();
        let service = Service {
            database: server.url(),
            losses: AtomicU32::new(losses),
        };
        Self {
            url: start(service).await.unwrap(),
            client: Client::builder().no_proxy().build().unwrap(),
            database,
            _server: server,
        }
    }

    async fn post(&self, key: Option<&str>, order: &'static str) -> Response {
        let mut request = self.client.post(&self.url).body(order);
        if let Some(key) = key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        request.send().await.unwrap()
    }

    async fn payments(&self) -> i64 {
        let count = "SELECT count(*) FROM payments";
        self.database.query_one(count, &[]).await.unwrap().get(0)
    }
}

pub(crate) async fn a_payment_whose_answer_is_lost_ten_times_is_booked_once() {
    let shop = Shop::open(10).await;
    let receipt = pay(&shop.client, &shop.url, "12.50").await.unwrap();
    assert_eq!(receipt, "payment 1: 12.50", "the first answer");
    assert_eq!(shop.payments().await, 1);
}

pub(crate) async fn requests_with_one_key_at_the_same_time_are_one_payment() {
    let shop = Shop::open(0).await;
    let answers = join_all((0..8).map(|_| shop.post(Some("order-7"), "12.50"))).await;
    for answer in answers {
        assert_eq!(answer.status(), StatusCode::CREATED);
        assert_eq!(answer.text().await.unwrap(), "payment 1: 12.50");
    }
    assert_eq!(shop.payments().await, 1);
}

pub(crate) async fn a_key_of_another_order_and_no_key_are_refused() {
    let shop = Shop::open(0).await;
    let first = shop.post(Some("order-7"), "12.50").await;
    assert_eq!(first.status(), StatusCode::CREATED);
    let other = shop.post(Some("order-7"), "99.00").await;
    assert_eq!(other.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let without = shop.post(None, "12.50").await;
    assert_eq!(without.status(), StatusCode::BAD_REQUEST);
    assert_eq!(shop.payments().await, 1);
}
