//! One version of `sea-orm` against PostgreSQL. The module around names the crate `client`, and the module of `reattempt`
//! `adapter`.

use std::time::Duration;

use integrations::pgbouncer::Pooler;
use integrations::postgres;
use integrations::proxy::{Proxy, To};
use reattempt::{Retryable as _, Verdict, retry};

use super::adapter::{TransactionError, commit};
use super::client::{
    ConnectionTrait as _, Database, DatabaseConnection, DbErr, TransactionTrait as _,
};
use crate::sqlx::version::{ACCOUNTS, BALANCES, ONE};

#[retry(attempts = "unlimited", base = "5ms", max_delay = "20ms")]
pub(crate) async fn add_one(database: &DatabaseConnection) -> Result<(), TransactionError<DbErr>> {
    let transaction = database.begin().await?;
    transaction.execute_unprepared(ONE).await?;
    commit(transaction).await
}

async fn with_accounts(server: &postgres::Server) -> DatabaseConnection {
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let database = Database::connect(url).await.unwrap();
    for statement in [ACCOUNTS, BALANCES] {
        database.execute_unprepared(statement).await.unwrap();
    }
    database
}

pub(crate) async fn a_conflict_in_postgres_is_retried_and_a_lost_commit_is_not() {
    let server = postgres::Server::start().await.unwrap();
    let database = with_accounts(&server).await;
    // New sessions do not wait for locks of other sessions.
    let impatient = "ALTER DATABASE postgres SET lock_timeout = '1ms'";
    database.execute_unprepared(impatient).await.unwrap();
    let port = crate::tokio_postgres::cut_at_commit(server.port()).await;
    let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
    let other = Database::connect(&url).await.unwrap();

    let holder = database.begin().await.unwrap();
    holder.execute_unprepared(ONE).await.unwrap();
    let busy = other.execute_unprepared(ONE).await.unwrap_err();
    assert_eq!(busy.verdict(), Verdict::Conflict, "{busy:?}");
    let (added, ()) = tokio::join!(add_one(&other), async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        holder.commit().await.unwrap();
    });
    // The transaction waited for the lock, and then the answer to its commit was lost.
    let lost = added.unwrap_err();
    assert!(matches!(lost, TransactionError::Commit(_)), "{lost:?}");
    assert_eq!(lost.verdict(), Verdict::Unknown, "{lost:?}");
    let balance = "SELECT FROM account WHERE id = 1 AND balance = 102";
    let found = database.execute_unprepared(balance).await.unwrap();
    assert_eq!(found.rows_affected(), 1, "both took effect, once each");
}

pub(crate) async fn a_session_that_a_pooler_ends_before_the_commit_is_transient() {
    let server = postgres::Server::start().await.unwrap();
    let port = server.port();
    let proxy = Proxy::start(move |_| To::Server(port)).await;
    let pooler = Pooler::start(proxy.port, "").await.unwrap();
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", pooler.port);
    let database = Database::connect(url).await.unwrap();
    let transaction = database.begin().await.unwrap();
    transaction.execute_unprepared("SELECT 1").await.unwrap();
    proxy.cut();
    let ended = transaction.execute_unprepared("SELECT 1").await;
    let ended = ended.unwrap_err();
    assert_eq!(ended.verdict(), Verdict::Unknown, "{ended:?}");
    let ended = TransactionError::Statement(ended);
    assert_eq!(ended.verdict(), Verdict::Transient, "{ended:?}");
}
