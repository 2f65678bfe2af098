//! Many clients that change the same few rows. Conflicts are ordinary there, so they must not end as failed calls.

use integrations::{mariadb, postgres};
use reattempt::sqlx_0_9::{TransactionError, commit};
use reattempt::{Budget, Outcome, retry, with_report};
use sqlx::{
    Connection as _, Error, Executor as _, MySqlConnection, PgConnection, query, query_scalar,
};

const CLIENTS: u32 = 16;
const TRANSFERS: u32 = 600;
const ROWS: u32 = 5;

const TABLE: &str = "CREATE TABLE account (id bigint PRIMARY KEY, balance bigint NOT NULL)";
const ACCOUNTS: &str = "INSERT INTO account VALUES (0, 0), (1, 0), (2, 0), (3, 0), (4, 0)";

/// The rows of a transfer. Each pair of rows is used in both directions, so there are deadlocks too.
fn rows(transfer: u32) -> (u32, u32) {
    let from = transfer % ROWS;
    (from, (from + 1 + transfer / ROWS % (ROWS - 1)) % ROWS)
}

/// The balances after all transfers.
fn expected() -> Vec<i64> {
    let mut balances = vec![0; ROWS as usize];
    for transfer in 0..TRANSFERS {
        let (from, to) = rows(transfer);
        balances[from as usize] -= 1;
        balances[to as usize] += 1;
    }
    balances
}

/// A function that makes one transfer with the default budget, and one that makes them all.
macro_rules! transfers {
    ($transfer:ident, $transfers:ident, $connection:ty, $read:literal, $write:literal) => {
        #[retry(attempts = 40, base = "20ms", max_delay = "1s")]
        async fn $transfer(
            client: &mut $connection,
            from: u32,
            to: u32,
        ) -> Result<(), TransactionError<Error>> {
            let mut transaction = client.begin().await?;
            let mut balances: Vec<(u32, i64)> = Vec::new();
            for row in [from, to] {
                let read = query_scalar($read).bind(i64::from(row));
                balances.push((row, read.fetch_one(&mut *transaction).await?));
            }
            for ((row, balance), change) in balances.into_iter().zip([-1, 1]) {
                let write = query($write).bind(balance + change).bind(i64::from(row));
                write.execute(&mut *transaction).await?;
            }
            commit(transaction).await
        }

        /// Returns how many attempts the transfers took.
        async fn $transfers(url: &str) -> u32 {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| {
                    let url = url.to_owned();
                    tokio::spawn(async move {
                        let mut connection = <$connection>::connect(&url).await.unwrap();
                        let mut attempts = 0;
                        for number in (client..TRANSFERS).step_by(CLIENTS as usize) {
                            let (from, to) = rows(number);
                            let (result, report) =
                                with_report($transfer(&mut connection, from, to)).await;
                            let report = report.unwrap();
                            assert_ne!(report.outcome(), Outcome::Budget);
                            result.unwrap();
                            // Nothing was ever charged.
                            assert_eq!(report.budget_level(), Some(Budget::new().level()));
                            attempts += report.attempts();
                        }
                        attempts
                    })
                })
                .collect();
            let mut attempts = 0;
            for client in clients {
                attempts += client.await.unwrap();
            }
            attempts
        }
    };
}

transfers!(
    transfer_in_postgres,
    transfers_in_postgres,
    PgConnection,
    "SELECT balance FROM account WHERE id = $1",
    "UPDATE account SET balance = $1 WHERE id = $2"
);
transfers!(
    transfer_in_mariadb,
    transfers_in_mariadb,
    MySqlConnection,
    "SELECT balance FROM account WHERE id = ?",
    "UPDATE account SET balance = ? WHERE id = ?"
);

pub(crate) async fn conflicts_in_postgres_end_no_call() {
    let server = postgres::Server::start().await.unwrap();
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let mut own = PgConnection::connect(&url).await.unwrap();
    for statement in [
        TABLE,
        ACCOUNTS,
        "ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'",
    ] {
        own.execute(statement).await.unwrap();
    }
    let attempts = transfers_in_postgres(&url).await;
    assert!(attempts > TRANSFERS + 30, "{attempts}: hardly a conflict");
    let balances = query_scalar("SELECT balance FROM account ORDER BY id");
    let balances: Vec<i64> = balances.fetch_all(&mut own).await.unwrap();
    assert_eq!(balances, expected());
}

pub(crate) async fn conflicts_in_mariadb_end_no_call() {
    let server = mariadb::Server::start().await.unwrap();
    let mut own = MySqlConnection::connect(&server.url()).await.unwrap();
    for statement in [
        TABLE,
        ACCOUNTS,
        "SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    ] {
        own.execute(statement).await.unwrap();
    }
    let attempts = transfers_in_mariadb(&server.url()).await;
    assert!(attempts > TRANSFERS + 30, "{attempts}: hardly a conflict");
    let balances = query_scalar("SELECT balance FROM account ORDER BY id");
    let balances: Vec<i64> = balances.fetch_all(&mut own).await.unwrap();
    assert_eq!(balances, expected());
}
