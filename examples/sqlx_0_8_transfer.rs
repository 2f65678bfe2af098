//! Transfers with `sqlx` 0.8 in MariaDB, each one transaction that is retried as a whole.
//!
//! ```text
//! cargo run -p integrations --example sqlx_0_8_transfer
//! ```
//!
//! In your `Cargo.toml`: `reattempt = { version = "0.1", features = ["sqlx-0_8"] }`. Starts a MariaDB of its own in a
//! temporary folder.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use integrations::mariadb::Server;
use reattempt::sqlx_0_8::{TransactionError, commit};
use reattempt::{RetryEvent, observe, retry};
// In your crate this is `sqlx`. This workspace has both versions.
use sqlx::mysql::MySqlPool;
use sqlx::{Executor as _, Row as _};
use sqlx_0_8 as sqlx;

/// Begins, runs and commits the transaction.
///
/// The attribute has no rule, so the number of the error decides. A deadlock (1213) is retried: the server has rolled back
/// the transaction. So is a lock that was not granted in time (1205): `sqlx` rolls back when it drops `transaction`.
#[retry(attempts = 10, base = "10ms", on_retry = tell)]
async fn transfer(
    pool: &MySqlPool,
    from: i32,
    to: i32,
    amount: i64,
) -> Result<(), TransactionError<sqlx::Error>> {
    let mut transaction = pool.begin().await?;
    for (account, amount) in [(from, -amount), (to, amount)] {
        sqlx::query("UPDATE account SET balance = balance + ? WHERE id = ?")
            .bind(amount)
            .bind(account)
            .execute(&mut *transaction)
            .await?;
    }
    commit(transaction).await
}

static RETRIES: AtomicU32 = AtomicU32::new(0);

fn tell(event: &RetryEvent<'_, TransactionError<sqlx::Error>>) {
    RETRIES.fetch_add(1, Ordering::Relaxed);
    let cause = event.error().and_then(std::error::Error::source);
    let cause = cause.map_or_else(|| "timed out".to_owned(), ToString::to_string);
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {cause} ({verdict}), again in {delay:.0?}");
}

/// Waits until there are more retries than at present.
async fn next_retry() {
    let before = RETRIES.load(Ordering::Relaxed);
    while RETRIES.load(Ordering::Relaxed) == before {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::start().await?;
    let pool = MySqlPool::connect(&server.url()).await?;
    for statement in [
        "CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0))",
        "INSERT INTO account VALUES (1, 100), (2, 100)",
    ] {
        pool.execute(statement).await?;
    }

    println!("Transfers in both directions at the same time, until two of them deadlock:");
    while RETRIES.load(Ordering::Relaxed) == 0 {
        let (there, back) = tokio::join!(transfer(&pool, 1, 2, 10), transfer(&pool, 2, 1, 10));
        there.and(back)?;
    }

    println!("A transfer from an account that another transaction has locked:");
    let mut other = pool.begin().await?;
    other
        .execute("SELECT balance FROM account WHERE id = 1 FOR UPDATE")
        .await?;
    let (transferred, unlocked) = tokio::join!(transfer(&pool, 1, 2, 35), async {
        next_retry().await;
        other.rollback().await
    });
    transferred?;
    unlocked?;

    println!("A transfer of more money than the account has, which fails in every attempt:");
    let (result, report) = observe(transfer(&pool, 1, 2, 1000)).await;
    let error = result.unwrap_err();
    let TransactionError::Statement(cause) = &error else {
        return Err(error.into());
    };
    println!("  not retried: {cause}");
    assert_eq!(report.map(|report| report.attempts()), Some(1));

    let rows = pool.fetch_all("SELECT id, balance FROM account ORDER BY id");
    for row in rows.await? {
        let (id, balance): (i32, i64) = (row.get(0), row.get(1));
        println!("account {id}: {balance}");
        assert_eq!(balance, if id == 1 { 65 } else { 135 });
    }
    Ok(())
}
