//! A pool of `deadpool` in front of PostgreSQL.

use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{Manager, Metrics, Pool, PoolError, RecycleResult};
use integrations::postgres::{self, Server};
use reattempt::{Retryable as _, Verdict, retry};
use tokio_postgres::{Client, Error};

struct Connect(String);

impl Manager for Connect {
    type Type = Client;
    type Error = Error;

    async fn create(&self) -> Result<Client, Error> {
        postgres::connect(&self.0).await
    }

    async fn recycle(&self, client: &mut Client, _: &Metrics) -> RecycleResult<Error> {
        Ok(client.batch_execute("").await?)
    }
}

fn pool(url: String) -> Pool<Connect> {
    Pool::builder(Connect(url))
        .max_size(1)
        .wait_timeout(Some(Duration::from_mins(1)))
        .runtime(Runtime::Tokio1)
        .build()
        .unwrap()
}

/// Retries long enough for a server that starts.
#[retry(
    attempts = 400,
    backoff = "constant",
    base = "50ms",
    idempotent = false
)]
async fn connect(pool: &Pool<Connect>) -> Result<(), PoolError<Error>> {
    pool.get().await.map(drop)
}

pub(crate) async fn a_pool_without_a_free_connection_and_without_a_server_refuses() {
    let mut server = Server::start().await.unwrap();
    let connections = pool(server.url());
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

    let wrong = pool(format!("{} dbname=nowhere", server.url()));
    let wrong = wrong.get().await.map(drop).unwrap_err();
    assert_eq!(wrong.verdict(), Verdict::Permanent, "{wrong:?}");
    connections.close();
    let closed = connections.get().await.map(drop).unwrap_err();
    assert_eq!(closed.verdict(), Verdict::Permanent, "{closed:?}");
}
