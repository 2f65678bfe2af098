//! Transfers with `sqlx` 0.9, each one transaction that is retried as a whole.
//!
//! ```text
//! cargo run -p integrations --example sqlx_transfer
//! ```
//!
//! It starts its own Postgres in a temporary folder.

use integrations::postgres::Server;
use reattempt::sqlx_0_9::{TransactionError, commit};
use reattempt::{RetryEvent, retry};
use sqlx::postgres::PgPool;
use sqlx::{Executor as _, Row as _};

/// Begins, runs and commits the transaction. After a conflict, Postgres has rolled back all of it.
///
/// The attribute has no rule, so the error decides. A conflict is retried, and so is a connection that is lost before
/// the `COMMIT`. A connection that is lost during the `COMMIT` is not, because the transfer may have taken effect.
#[retry(attempts = 10, base = "5ms", on_retry = tell)]
async fn transfer(
    pool: &PgPool,
    from: i32,
    to: i32,
    amount: i64,
) -> Result<(), TransactionError<sqlx::Error>> {
    let mut transaction = pool.begin().await?;
    transaction
        .execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        .await?;
    for (account, amount) in [(from, -amount), (to, amount)] {
        sqlx::query("UPDATE account SET balance = balance + $2 WHERE id = $1")
            .bind(account)
            .bind(amount)
            .execute(&mut *transaction)
            .await?;
    }
    commit(transaction).await
}

fn tell(event: &RetryEvent<'_, TransactionError<sqlx::Error>>) {
    let cause = event.error().and_then(std::error::Error::source);
    let cause = cause.map_or_else(|| "timed out".to_owned(), ToString::to_string);
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {cause} ({verdict}), again in {delay:.0?}");
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::start().await?;
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let pool = PgPool::connect(&url).await?;
    for statement in [
        "CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0))",
        "INSERT INTO account VALUES (1, 100), (2, 100)",
    ] {
        pool.execute(statement).await?;
    }

    println!("Four transfers between the same two accounts, at the same time:");
    let (a, b, c, d) = tokio::join!(
        transfer(&pool, 1, 2, 30),
        transfer(&pool, 2, 1, 10),
        transfer(&pool, 1, 2, 20),
        transfer(&pool, 2, 1, 5),
    );
    a.and(b).and(c).and(d)?;

    println!("A transfer of more money than the account has, which fails in every attempt:");
    let error = transfer(&pool, 1, 2, 1000).await.unwrap_err();
    let TransactionError::Statement(cause) = &error else {
        return Err(error.into());
    };
    println!("  not retried: {cause}");

    let rows = pool.fetch_all("SELECT id, balance FROM account ORDER BY id");
    for row in rows.await? {
        let (id, balance): (i32, i64) = (row.get(0), row.get(1));
        println!("account {id}: {balance}");
        assert_eq!(balance, if id == 1 { 65 } else { 135 });
    }
    Ok(())
}
