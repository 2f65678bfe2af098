//! A transfer between two accounts, as one transaction that is retried as a whole.
//!
//! `DATABASE_URL=postgres://user@localhost/db cargo run -p integrations --example postgres_transfer`

use reattempt::retry;
use reattempt::tokio_postgres::{TransactionError, commit};
use tokio_postgres::{IsolationLevel, NoTls};

/// Moves `amount` from one account to another, all or nothing.
///
/// A conflict with another transaction, a server that restarts or a session that is ended are retried
/// from the start; a connection that is lost during `COMMIT` is not, since it may have taken effect.
/// Each attempt takes a connection anew: one that was lost stays lost. With a pool that is `pool.get()`.
#[retry(attempts = 8, base = "20ms", max_delay = "1s")]
pub(crate) async fn transfer(
    database: &str,
    from: i32,
    to: i32,
    amount: i64,
) -> Result<(), TransactionError> {
    let (mut client, connection) = tokio_postgres::connect(database, NoTls).await?;
    tokio::spawn(connection);

    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::Serializable)
        .start()
        .await?;
    let withdraw = "UPDATE account SET balance = balance - $2 WHERE id = $1";
    transaction.execute(withdraw, &[&from, &amount]).await?;
    let deposit = "UPDATE account SET balance = balance + $2 WHERE id = $1";
    transaction.execute(deposit, &[&to, &amount]).await?;
    commit(transaction).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Ok(database) = std::env::var("DATABASE_URL") else {
        println!("set DATABASE_URL to a database with a table `account (id int, balance bigint)`");
        return Ok(());
    };
    transfer(&database, 1, 2, 10).await?;
    println!("10 moved from account 1 to account 2");
    Ok(())
}
