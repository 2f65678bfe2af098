//! Orders, in Postgres.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime};
use reattempt::tokio_postgres_0_7::{CommitError, TransactionError, commit};
use reattempt::{Attempt, Retryable, Stopped, Verdict, retry};
use tokio_postgres::{Config, NoTls};

use crate::presets::ORDERS;

/// Creates the tables and a stock of every product.
pub(crate) const TABLES: &str = "
    CREATE TABLE stock (product bigint PRIMARY KEY, pieces int NOT NULL);
    CREATE TABLE placed (key text PRIMARY KEY, customer bigint NOT NULL, product bigint NOT NULL, cents bigint NOT NULL);
    INSERT INTO stock SELECT product, 1000000 FROM generate_series(0, 99) product";

/// Why an order was not placed.
#[derive(Debug, thiserror::Error, Retryable)]
pub(crate) enum OrderError {
    /// There was no connection for it.
    #[error("no connection")]
    #[retryable(forward)]
    Pool(#[from] PoolError),

    /// The statements or the commit failed.
    #[error(transparent)]
    #[retryable(with = "of_transaction")]
    Transaction(#[from] TransactionError<tokio_postgres::Error>),

    /// A limit of the call was reached.
    #[error(transparent)]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

impl From<tokio_postgres::Error> for OrderError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Transaction(error.into())
    }
}

/// If the connection is lost during `COMMIT`, the order may have been placed, so the adapter's verdict is unknown. Here
/// the key makes another attempt safe.
fn of_transaction(error: &TransactionError<tokio_postgres::Error>) -> Verdict {
    match error {
        TransactionError::Commit(CommitError(lost)) if lost.code().is_none() => Verdict::Transient,
        other => other.verdict(),
    }
}

/// A pool that connects when a connection is needed.
///
/// It tests a connection before it gives it away. One on which an attempt that was cut left its statement fails the test.
pub(crate) fn pool(config: Config) -> Result<Pool, deadpool_postgres::BuildError> {
    let recycling = ManagerConfig {
        recycling_method: RecyclingMethod::Verified,
    };
    let manager = Manager::from_config(config, NoTls, recycling);
    Pool::builder(manager)
        .max_size(8)
        .recycle_timeout(Some(Duration::from_millis(100)))
        .runtime(Runtime::Tokio1)
        .build()
}

/// Takes a piece out of the stock and stores the order, in one transaction.
///
/// An attempt may reach its timeout during `COMMIT`. The key is the same in all attempts of a call, so an order is not
/// placed twice.
#[retry(policy = ORDERS)]
pub(crate) async fn place(
    pool: &Pool,
    customer: u32,
    product: u32,
    cents: i64,
) -> Result<(), OrderError> {
    let key = Attempt::current().map(|attempt| attempt.idempotency_key().to_string());
    let (customer, product) = (i64::from(customer), i64::from(product));
    let mut connection = pool.get().await?;
    let insert = "INSERT INTO placed VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
    let insert = connection.prepare_cached(insert).await?;
    let update = "UPDATE stock SET pieces = pieces - 1 WHERE product = $1";
    let update = connection.prepare_cached(update).await?;

    // The client itself and not the pool's wrapper, because `commit` takes its transaction.
    let client: &mut tokio_postgres::Client = &mut connection;
    let transaction = client.transaction().await?;
    let placed = transaction
        .execute(&insert, &[&key, &customer, &product, &cents])
        .await?;
    if placed == 1 {
        transaction.execute(&update, &[&product]).await?;
    }
    Ok(commit(transaction).await?)
}
