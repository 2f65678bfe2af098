//! Transactions of `diesel` that have a conflict in PostgreSQL, with the verdict of the page on clients.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

use diesel::result::{DatabaseErrorKind as Kind, Error::DatabaseError};
use diesel::{Connection as _, PgConnection, QueryResult, RunQueryDsl as _, sql_query};
use integrations::postgres::Server;
use reattempt::{Verdict, retry};

/// Two statements, between which the first attempt of each of two transactions waits for that of the other one.
#[rustfmt::skip]
#[retry(blocking, attempts = 5, base = "1ms", verdict = |error: &diesel::result::Error| match error { DatabaseError(Kind::SerializationFailure, _) => Verdict::Conflict, DatabaseError(_, said) if said.message() == "deadlock detected" => Verdict::Conflict, _ => Verdict::Unknown })]
fn both(
    connection: &mut PgConnection,
    statements: [&str; 2],
    together: &Barrier,
    attempts: &AtomicU32,
) -> QueryResult<()> {
    let is_first = attempts.fetch_add(1, Relaxed) < 2;
    connection
        .build_transaction()
        .serializable()
        .run(|connection| {
            sql_query(statements[0]).execute(connection)?;
            if is_first {
                together.wait();
            }
            sql_query(statements[1]).execute(connection)?;
            Ok(())
        })
}

#[tokio::test]
async fn a_deadlock_and_a_serialization_failure_run_the_whole_transaction_again() {
    const SUM: &str = "SELECT sum(balance) FROM account";
    const ONE: &str = "UPDATE account SET balance = balance + 1 WHERE id = 1";
    const TWO: &str = "UPDATE account SET balance = balance + 1 WHERE id = 2";
    let server = Server::start().await.unwrap();
    let admin = server.connect().await.unwrap();
    let accounts = "CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL);
         INSERT INTO account VALUES (1, 0), (2, 0)";
    admin.batch_execute(accounts).await.unwrap();
    let sum = async || -> i64 {
        let sum = "SELECT sum(balance)::bigint FROM account";
        admin.query_one(sum, &[]).await.unwrap().get(0)
    };
    for (pair, added) in [([[ONE, TWO], [TWO, ONE]], 4), ([[SUM, ONE], [SUM, TWO]], 2)] {
        let (together, attempts) = (Barrier::new(2), AtomicU32::new(0));
        let before = sum().await;
        thread::scope(|scope| {
            for statements in &pair {
                scope.spawn(|| {
                    let mut connection = PgConnection::establish(&server.url()).unwrap();
                    both(&mut connection, *statements, &together, &attempts).unwrap();
                });
            }
        });
        assert!(attempts.into_inner() > 2, "there was no conflict");
        assert_eq!(sum().await - before, added);
    }
}
