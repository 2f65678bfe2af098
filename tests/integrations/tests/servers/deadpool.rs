//! A pool of `deadpool-postgres`.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime};
use integrations::postgres::{self, Server};
use integrations::{skip, until};
use reattempt::tokio_postgres_0_7::{TransactionError, commit};
use reattempt::{Outcome, Retryable, Stopped, Verdict, retry, with_report};
use tokio_postgres::{Client, Error, NoTls};

fn pool(url: &str) -> Pool {
    let recycling_method = RecyclingMethod::Verified;
    let config = ManagerConfig { recycling_method };
    Pool::builder(Manager::from_config(url.parse().unwrap(), NoTls, config))
        .max_size(1)
        .wait_timeout(Some(Duration::from_mins(1)))
        .runtime(Runtime::Tokio1)
        .build()
        .unwrap()
}

/// Retries long enough for a server that starts.
#[retry(
    attempts = "unlimited",
    backoff = "constant",
    base = "50ms",
    idempotent = false
)]
async fn connect(pool: &Pool) -> Result<(), PoolError> {
    pool.get().await.map(drop)
}

pub(crate) async fn a_pool_without_a_free_connection_and_without_a_server_refuses() {
    let mut server = Server::start().await.unwrap();
    let connections = pool(&server.url());
    let taken = connections.get().await.unwrap();
    tokio::time::pause();
    let none_free = connections.get().await.map(drop).unwrap_err();
    tokio::time::resume();
    assert!(matches!(none_free, PoolError::Timeout(_)), "{none_free:?}");
    assert_eq!(none_free.verdict(), Verdict::Refused);
    drop(taken);

    server.stop();
    let refused = connections.get().await.map(drop).unwrap_err();
    assert!(matches!(refused, PoolError::Backend(_)), "{refused:?}");
    assert_eq!(refused.verdict(), Verdict::Refused, "{refused:?}");
    // Nothing ran, so the call retries even with `idempotent = false`.
    let (connected, ()) = tokio::join!(connect(&connections), server.restart());
    connected.unwrap();

    let wrong = pool(&format!("{} dbname=nowhere", server.url()));
    let wrong = wrong.get().await.map(drop).unwrap_err();
    assert_eq!(wrong.verdict(), Verdict::Permanent, "{wrong:?}");
    connections.close();
    let closed = connections.get().await.map(drop).unwrap_err();
    assert_eq!(closed.verdict(), Verdict::Permanent, "{closed:?}");
}

/// As the guide's page on databases says.
#[derive(Debug, thiserror::Error, Retryable)]
#[retryable(forward)]
enum OrderError {
    #[error("no connection")]
    Pool(#[from] PoolError),
    #[error("the order was not placed")]
    Transaction(#[from] TransactionError<Error>),
}

impl From<Error> for OrderError {
    fn from(error: Error) -> Self {
        Self::Transaction(error.into())
    }
}

impl From<Stopped> for OrderError {
    fn from(stopped: Stopped) -> Self {
        Self::Transaction(stopped.into())
    }
}

#[retry(attempts = 5, base = "1ms", timeout = "20s")]
async fn order(pool: &Pool) -> Result<(), OrderError> {
    let mut connection = pool.get().await?;
    let client: &mut Client = &mut connection;
    let transaction = client.transaction().await?;
    transaction
        .batch_execute("INSERT INTO placed VALUES (1)")
        .await?;
    Ok(commit(transaction).await?)
}

async fn placed(client: &Client) -> usize {
    let rows = client.query("SELECT FROM placed", &[]).await;
    rows.unwrap().len()
}

pub(crate) async fn an_error_of_ones_own_knows_whether_the_commit_was_sent() {
    let mut server = Server::start().await.unwrap();
    let admin = server.connect().await.unwrap();
    let table = "CREATE TABLE placed (number int)";
    admin.batch_execute(table).await.unwrap();

    let cut = pool(&postgres::url(
        crate::tokio_postgres::cut_at_commit(server.port()).await,
    ));
    let (lost, report) = with_report(order(&cut)).await;
    let lost = lost.unwrap_err();
    let in_commit =
        |error: &OrderError| matches!(error, OrderError::Transaction(TransactionError::Commit(_)));
    assert!(in_commit(&lost), "{lost:?}");
    assert_eq!(lost.verdict(), Verdict::Unknown, "{lost:?}");
    let report = report.unwrap();
    assert_eq!((report.attempts(), report.outcome()), (1, Outcome::InDoubt));
    assert_eq!(placed(&admin).await, 1);

    let hung = pool(&postgres::url(
        crate::tokio_postgres::hang_at_commit(server.port()).await,
    ));
    let ((stopped, report), ()) = tokio::join!(with_report(order(&hung)), async {
        // The commit takes effect, and its answer never comes.
        until("the second order", async || placed(&admin).await == 2).await;
        skip().await;
    });
    let stopped = stopped.unwrap_err();
    assert_eq!(stopped.verdict(), Verdict::Unknown, "{stopped:?}");
    let report = report.unwrap();
    assert_eq!((report.attempts(), report.outcome()), (1, Outcome::InDoubt));
    assert_eq!(placed(&admin).await, 2);

    server.stop();
    let lost = admin.batch_execute("").await.unwrap_err();
    // By itself, the error does not say what was cut. Before the commit, nothing took effect.
    assert_eq!(lost.verdict(), Verdict::Unknown, "{lost:?}");
    let before = OrderError::from(lost);
    assert_eq!(before.verdict(), Verdict::Transient, "{before:?}");
}
