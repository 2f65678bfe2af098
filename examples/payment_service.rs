//! A service that books a payment once, however often the request arrives: the server's side of an idempotency key.
//!
//! ```text
//! cargo run -p integrations --example payment_service
//! ```
//!
//! The service stores each key with the answer, in the transaction that books the payment. A request with a known key
//! gets the first answer again. The service is `axum`'s, the tables are in a Postgres server that this program starts.

use std::future::{IntoFuture as _, ready};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use futures::FutureExt as _;
use integrations::postgres::{Server, connect};
use reattempt::http_1::{ATTEMPT_NUMBER, IDEMPOTENCY_KEY};
use reattempt::reqwest_0_13::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::retry;
use reqwest::Client;
use tokio::net::TcpListener;

/// Pays. `attempt_headers` sends the same key with every attempt of this call. Another call has another key.
#[retry(attempts = 11, base = "5ms", timeout = "5s")]
pub(crate) async fn pay(
    client: &Client,
    url: &str,
    order: &'static str,
) -> Result<String, RequestError> {
    let request = client.post(url).body(order).attempt_headers();
    Ok(request.send().await?.check()?.text().await?)
}

pub(crate) const TABLES: &str = "
    CREATE TABLE payments (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ordered text NOT NULL);
    CREATE TABLE answers (key text PRIMARY KEY, ordered text NOT NULL, answer text);
";

pub(crate) struct Service {
    /// How to connect to the database. In a real service this is a pool.
    pub(crate) database: String,
    /// How many more answers will be lost.
    pub(crate) losses: AtomicU32,
}

/// Books the payment, or returns the answer that is stored for the key.
async fn book(
    key: &str,
    order: &str,
    database: &str,
) -> Result<(StatusCode, String), tokio_postgres::Error> {
    let mut client = connect(database).await?;
    let transaction = client.transaction().await?;
    // If another request with this key is under way, this waits until that one commits or fails.
    let claim = "INSERT INTO answers (key, ordered) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    if transaction.execute(claim, &[&key, &order]).await? == 0 {
        let known = "SELECT ordered, answer FROM answers WHERE key = $1";
        let row = transaction.query_one(known, &[&key]).await?;
        if row.get::<_, &str>(0) != order {
            let answer = "the key belongs to another request".to_owned();
            return Ok((StatusCode::UNPROCESSABLE_ENTITY, answer));
        }
        return Ok((StatusCode::CREATED, row.get(1)));
    }
    let booked = "INSERT INTO payments (ordered) VALUES ($1) RETURNING number";
    let number: i64 = transaction.query_one(booked, &[&order]).await?.get(0);
    let answer = format!("payment {number}: {order}");
    let keep = "UPDATE answers SET answer = $2 WHERE key = $1";
    transaction.execute(keep, &[&key, &answer]).await?;
    // Stores the payment and its answer, or neither.
    transaction.commit().await?;
    Ok((StatusCode::CREATED, answer))
}

async fn answer(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    order: String,
) -> Response {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(key) = text(IDEMPOTENCY_KEY) else {
        return (StatusCode::BAD_REQUEST, "a payment needs a key").into_response();
    };
    let answer = book(key, &order, &service.database).await;
    let lose = |left: u32| left.checked_sub(1);
    if service
        .losses
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, lose)
        .is_ok()
    {
        println!(
            "  attempt {}: the answer is lost",
            text(ATTEMPT_NUMBER).unwrap_or("?")
        );
        // The connection ends before the answer does.
        let broken = ready(Err::<String, _>(io::Error::other("lost")));
        return Body::from_stream(broken.into_stream()).into_response();
    }
    match answer {
        Ok(answer) => answer.into_response(),
        // Nothing was committed, so another attempt may book it.
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response(),
    }
}

/// Starts the service on a free port, and gives its URL.
pub(crate) async fn start(service: Service) -> io::Result<String> {
    let router = Router::new().route("/payments", post(answer));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(axum::serve(listener, router.with_state(Arc::new(service))).into_future());
    Ok(format!("http://{address}/payments"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::start().await?;
    let database = server.connect().await?;
    database.batch_execute(TABLES).await?;
    let service = Service {
        database: server.url(),
        losses: AtomicU32::new(10),
    };
    let url = start(service).await?;
    let client = Client::builder().no_proxy().build()?;

    println!("A payment whose answer is lost ten times:");
    let receipt = pay(&client, &url, "12.50 EUR to ACME").await?;
    println!("  {receipt}");
    assert_eq!(receipt, "payment 1: 12.50 EUR to ACME");
    let booked = async || {
        database
            .query_one("SELECT count(*) FROM payments", &[])
            .await
    };
    assert_eq!(booked().await?.get::<_, i64>(0), 1);

    println!("The same order in another call is another payment:");
    let receipt = pay(&client, &url, "12.50 EUR to ACME").await?;
    println!("  {receipt}");
    let row = database
        .query_one("SELECT count(*) FROM payments", &[])
        .await?;
    assert_eq!(row.get::<_, i64>(0), 2, "one for each call");
    Ok(())
}
