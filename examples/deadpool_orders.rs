//! A pool of `deadpool-postgres` without a connection: all are in use, the server restarts, or the database is missing.
//!
//! ```text
//! cargo run -p integrations --example deadpool_orders
//! ```
//!
//! In your `Cargo.toml`: `reattempt = { version = "0.1", features = ["deadpool-0_13", "tokio-postgres-0_7"] }`. Starts a Postgres
//! of its own in a temporary folder.

use std::error::Error;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime};
use integrations::postgres::Server;
use reattempt::{RetryEvent, Retryable, retry, with_report};
use tokio::sync::Notify;
use tokio_postgres::NoTls;

/// Why an order was not placed. With `forward`, the field decides the verdict.
#[derive(Debug, thiserror::Error, Retryable)]
#[retryable(forward)]
enum OrderError {
    #[error("no connection")]
    Pool(#[from] PoolError),
    #[error("the statement failed")]
    Statement(#[from] tokio_postgres::Error),
}

/// Places an order, which must not happen twice.
///
/// If the pool has no connection, the statement was never sent. The error is refused, so the call is retried even with
/// `idempotent = false`. If the connection is lost during the statement, the call is not retried.
#[retry(attempts = 100, base = "20ms", max_delay = "250ms", idempotent = false, on_retry = tell)]
async fn order(pool: &Pool, product: &str) -> Result<(), OrderError> {
    let client = pool.get().await?;
    client
        .execute("INSERT INTO placed VALUES ($1)", &[&product])
        .await?;
    Ok(())
}

static RETRIED: Notify = Notify::const_new();

fn tell(event: &RetryEvent<'_, OrderError>) {
    RETRIED.notify_one();
    let failure = event
        .error()
        .map_or_else(|| "timed out".to_owned(), in_words);
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {failure} ({verdict}), again in {delay:.0?}");
}

/// The error, and the innermost of its sources, which says what happened.
fn in_words(error: &OrderError) -> String {
    let sources = std::iter::successors(error.source(), |&source| source.source());
    sources
        .last()
        .map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

fn pool(database: &str) -> Result<Pool, Box<dyn Error>> {
    // Tests a connection before it is used. A lost connection would otherwise fail in the statement, and one that is still
    // busy with what a cut attempt left behind would hold up the next.
    let recycling_method = RecyclingMethod::Verified;
    let config = ManagerConfig { recycling_method };
    let manager = Manager::from_config(database.parse()?, NoTls, config);
    let pool = Pool::builder(manager)
        .max_size(2)
        // Without it, a call waits for a free connection without a limit.
        .wait_timeout(Some(Duration::from_millis(50)))
        .recycle_timeout(Some(Duration::from_millis(50)))
        .runtime(Runtime::Tokio1);
    Ok(pool.build()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut server = Server::start().await?;
    let pool = pool(&server.url())?;
    let taken = [pool.get().await?, pool.get().await?];
    taken[0]
        .batch_execute("CREATE TABLE placed (product text)")
        .await?;

    println!("Both connections of the pool are in use:");
    let (ordered, ()) = tokio::join!(order(&pool, "tea"), async {
        RETRIED.notified().await;
        drop(taken);
    });
    ordered?;

    println!("The server restarts:");
    server.stop();
    let (ordered, ()) = tokio::join!(order(&pool, "coffee"), server.restart());
    ordered?;

    println!("A database that does not exist:");
    let nowhere = self::pool(&format!("{} dbname=nowhere", server.url()))?;
    let (result, report) = with_report(order(&nowhere, "cocoa")).await;
    let error = result.unwrap_err();
    println!("  not retried: {}", in_words(&error));
    assert!(matches!(error, OrderError::Pool(PoolError::Backend(_))));
    assert_eq!(report.map(|report| report.attempts()), Some(1));

    let client = pool.get().await?;
    let rows = client.query("SELECT product FROM placed ORDER BY product", &[]);
    let placed: Vec<String> = rows.await?.iter().map(|row| row.get(0)).collect();
    println!("placed: {placed:?}");
    assert_eq!(placed, ["coffee", "tea"]);
    Ok(())
}
