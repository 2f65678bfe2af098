//! A transfer between two accounts, as one transaction that is retried as a whole.
//!
//! ```text
//! cargo run -p integrations --example postgres_transfer
//! ```
//!
//! It starts its own Postgres in a temporary folder. Set `DATABASE_URL` to use another one.

use integrations::postgres::Server;
use reattempt::tokio_postgres_0_7::{CommitError, TransactionError, commit};
use reattempt::{RetryEvent, retry};
use tokio_postgres::{IsolationLevel, NoTls};

/// Moves `amount` from one account to another, in one transaction.
///
/// A conflict with another transaction, a restart of the server and the end of a session are retried from the start. A
/// connection that is lost during `COMMIT` is not, because the transfer may have taken effect. Each attempt takes a new
/// connection, because the old one may be lost. A pool has errors of its own: `src/guide/databases.md` has them.
#[retry(attempts = 8, base = "20ms", max_delay = "1s", on_retry = tell)]
pub(crate) async fn transfer(
    database: &str,
    from: i32,
    to: i32,
    amount: i64,
) -> Result<(), TransactionError<tokio_postgres::Error>> {
    transfer_once(database, from, to, amount).await
}

/// The whole transaction, from its connection to its commit.
pub(crate) async fn transfer_once(
    database: &str,
    from: i32,
    to: i32,
    amount: i64,
) -> Result<(), TransactionError<tokio_postgres::Error>> {
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

fn tell(event: &RetryEvent<'_, TransactionError<tokio_postgres::Error>>) {
    let failure = match event.error() {
        Some(TransactionError::Statement(error) | TransactionError::Commit(CommitError(error))) => {
            in_words(error)
        }
        Some(other) => other.to_string(),
        None => "timed out".to_owned(),
    };
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {failure} ({verdict}), again in {delay:.0?}");
}

fn in_words(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{} {}", said.code().code(), said.message()),
        None => error.to_string(),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (database, _server) = if let Ok(database) = std::env::var("DATABASE_URL") {
        (database, None)
    } else {
        let server = Server::start().await?;
        (server.url(), Some(server))
    };
    let (admin, connection) = tokio_postgres::connect(&database, NoTls).await?;
    tokio::spawn(connection);
    let script = "CREATE TABLE IF NOT EXISTS account (id int PRIMARY KEY, balance bigint NOT NULL);
                  INSERT INTO account VALUES (1, 100), (2, 100)
                      ON CONFLICT (id) DO UPDATE SET balance = 100";
    admin.batch_execute(script).await?;

    println!("Four transfers between the same two accounts, at the same time:");
    let (a, b, c, d) = tokio::join!(
        transfer(&database, 1, 2, 30),
        transfer(&database, 2, 1, 10),
        transfer(&database, 1, 2, 20),
        transfer(&database, 2, 1, 5),
    );
    a.and(b).and(c).and(d)?;

    println!("A transfer that cannot succeed, because there is no such table:");
    admin
        .batch_execute("ALTER TABLE account RENAME TO archive")
        .await?;
    let error = transfer(&database, 1, 2, 30).await.unwrap_err();
    let TransactionError::Statement(cause) = &error else {
        return Err(error.into());
    };
    println!("  not retried: {}", in_words(cause));
    admin
        .batch_execute("ALTER TABLE archive RENAME TO account")
        .await?;

    for row in admin
        .query("SELECT id, balance FROM account ORDER BY id", &[])
        .await?
    {
        println!("account {}: {}", row.get::<_, i32>(0), row.get::<_, i64>(1));
    }
    Ok(())
}
