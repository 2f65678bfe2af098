//! `tokio-postgres` against a real server. Calls retry a transaction as a whole.

#[path = "../../../../examples/postgres_transfer.rs"]
#[allow(dead_code, reason = "the example's `main` is not run here")]
mod example;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use integrations::commit_proxy::{self, End, Passed};
use integrations::pgbouncer::Pooler;
use integrations::postgres::{self, Server};
use integrations::proxy::{Proxy, To};
use integrations::{skip, until};
use reattempt::tokio_postgres_0_7::{CommitError, TransactionError, commit};
use reattempt::{Retryable as _, Verdict, retry, with_report};
use tokio::sync::{Barrier, watch};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, IsolationLevel, Transaction};

async fn accounts(client: &Client) {
    let script =
        "CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0));
                  INSERT INTO account VALUES (1, 100), (2, 100)";
    client.batch_execute(script).await.unwrap();
}

async fn balances(client: &Client) -> Vec<i64> {
    let rows = client
        .query("SELECT balance FROM account ORDER BY id", &[])
        .await
        .unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// If two of these run at the same time, only one can be the first.
#[retry(attempts = 5, base = "1ms")]
async fn take_if_both_have(
    client: &mut Client,
    id: i32,
    together: &Barrier,
    attempts: &AtomicU32,
) -> Result<bool, TransactionError<tokio_postgres::Error>> {
    let first = attempts.fetch_add(1, Ordering::Relaxed) == 0;
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::Serializable)
        .start()
        .await?;
    let total: i64 = transaction
        .query_one("SELECT sum(balance)::bigint FROM account", &[])
        .await?
        .get(0);
    if first {
        together.wait().await;
    }
    let enough = total >= 200;
    if enough {
        transaction
            .execute(
                "UPDATE account SET balance = balance - 50 WHERE id = $1",
                &[&id],
            )
            .await?;
    }
    commit(transaction).await?;
    Ok(enough)
}

async fn two_sessions(url: &str) -> (Client, Client) {
    let (one, two) = tokio::join!(postgres::connect(url), postgres::connect(url));
    (one.unwrap(), two.unwrap())
}

pub(crate) async fn a_serialization_failure_runs_the_whole_transaction_again() {
    let server = Server::start().await.unwrap();
    let (mut one, mut two) = two_sessions(&server.url()).await;
    accounts(&one).await;
    let together = Barrier::new(2);
    let (first, second) = (AtomicU32::new(0), AtomicU32::new(0));
    let (taken_by_one, taken_by_two) = tokio::join!(
        take_if_both_have(&mut one, 1, &together, &first),
        take_if_both_have(&mut two, 2, &together, &second),
    );
    // The transaction that lost was run again, and saw the change of the other transaction.
    assert_ne!(taken_by_one.unwrap(), taken_by_two.unwrap());
    assert_eq!(balances(&one).await.iter().sum::<i64>(), 150);
    let attempts = first.into_inner() + second.into_inner();
    assert_eq!(attempts, 3);
}

pub(crate) async fn a_statement_alone_cannot_be_retried() {
    let server = Server::start().await.unwrap();
    let (mut one, two) = two_sessions(&server.url()).await;
    accounts(&one).await;
    let serializable = one.build_transaction();
    let serializable = serializable.isolation_level(IsolationLevel::Serializable);
    let transaction = serializable.start().await.unwrap();
    let select = "SELECT balance FROM account WHERE id = 1";
    transaction.query(select, &[]).await.unwrap();
    let update = "UPDATE account SET balance = 1 WHERE id = 1";
    two.execute(update, &[]).await.unwrap();
    let update = "UPDATE account SET balance = 2 WHERE id = 1";
    let conflict = transaction.execute(update, &[]).await.unwrap_err();
    assert_eq!(conflict.code(), Some(&SqlState::T_R_SERIALIZATION_FAILURE));
    assert_eq!(conflict.verdict(), Verdict::Conflict);
    let again = transaction.execute(update, &[]).await.unwrap_err();
    assert_eq!(again.code(), Some(&SqlState::IN_FAILED_SQL_TRANSACTION));
    assert_eq!(again.verdict(), Verdict::Permanent);
}

/// Ends the first session that matches, as soon as there is such a session.
async fn terminate(admin: &Client, session: &str) {
    let terminate = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE {session} AND pid <> pg_backend_pid()"
    );
    until(session, async || {
        let ended = admin.query_one(&terminate, &[]).await.unwrap();
        ended.get::<_, i64>(0) > 0
    })
    .await;
}

/// A transaction that holds a lock of this row.
async fn lock(holder: &mut Client, id: i32) -> Transaction<'_> {
    let lock = holder.transaction().await.unwrap();
    let row = "SELECT FROM account WHERE id = $1 FOR UPDATE";
    lock.execute(row, &[&id]).await.unwrap();
    lock
}

/// Calls the function of the example, which takes a connection in each attempt, as from a pool.
pub(crate) async fn a_session_that_is_terminated_in_the_middle_is_run_again() {
    let server = Server::start().await.unwrap();
    let admin = server.connect().await.unwrap();
    accounts(&admin).await;
    // This session locks a row, so that the transfer waits in the middle of its transaction.
    let mut holder = server.connect().await.unwrap();
    let held = lock(&mut holder, 2).await;

    let url = server.url();
    let transfer = tokio::spawn(async move { example::transfer(&url, 1, 2, 30).await });
    terminate(&admin, "wait_event_type = 'Lock'").await;
    held.commit().await.unwrap();
    transfer.await.unwrap().unwrap();
    assert_eq!(balances(&admin).await, [70, 130]);
}

/// The function of the example, with retries for as long as a server may need to restart.
#[retry(attempts = "unlimited", base = "50ms", max_delay = "200ms")]
async fn transfer_patiently(url: &str) -> Result<(), TransactionError<tokio_postgres::Error>> {
    example::transfer_once(url, 1, 2, 30).await
}

pub(crate) async fn a_server_that_restarts_is_waited_for() {
    let mut server = Server::start().await.unwrap();
    accounts(&server.connect().await.unwrap()).await;
    server.stop();
    let url = server.url();
    let transfer = tokio::spawn(async move { transfer_patiently(&url).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!transfer.is_finished());
    server.restart().await;
    transfer.await.unwrap().unwrap();
    assert_eq!(balances(&server.connect().await.unwrap()).await, [70, 130]);
}

/// The server gets each `COMMIT` and answers, and the client gets no answer.
pub(crate) async fn cut_at_commit(server: u16) -> u16 {
    commit_proxy::start(server, || Some((Passed::REQUEST, End::Close))).await
}

/// As [`cut_at_commit`], but the client keeps its connection, and waits for the answer.
pub(crate) async fn hang_at_commit(server: u16) -> u16 {
    commit_proxy::start(server, || Some((Passed::REQUEST, End::Hang))).await
}

/// A session ends while its `COMMIT` runs. The server reports the end, but not whether the commit took effect.
pub(crate) async fn a_session_terminated_during_commit_is_unknown_and_not_retried() {
    let server = Server::start().await.unwrap();
    let admin = server.connect().await.unwrap();
    accounts(&admin).await;
    let slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
                    'BEGIN PERFORM pg_sleep(60); RETURN NULL; END';
                CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON account
                    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()";
    admin.batch_execute(slow).await.unwrap();
    let url = server.url();
    let transfer = tokio::spawn(async move { example::transfer(&url, 1, 2, 30).await });
    terminate(&admin, "query = 'COMMIT' AND wait_event = 'PgSleep'").await;
    let error = transfer.await.unwrap().unwrap_err();
    let TransactionError::Commit(CommitError(cause)) = &error else {
        panic!("{error:?}");
    };
    assert_eq!(cause.code(), Some(&SqlState::ADMIN_SHUTDOWN), "{cause:?}");
    assert_eq!(error.verdict(), Verdict::Unknown);
}

pub(crate) async fn a_commit_that_the_server_refuses_is_permanent() {
    let server = Server::start().await.unwrap();
    let mut client = server.connect().await.unwrap();
    let deferred = "CREATE TABLE node (id int PRIMARY KEY,
                        parent int REFERENCES node DEFERRABLE INITIALLY DEFERRED)";
    client.batch_execute(deferred).await.unwrap();
    let transaction = client.transaction().await.unwrap();
    let orphan = "INSERT INTO node VALUES (1, 2)";
    transaction.batch_execute(orphan).await.unwrap();
    let error = commit(transaction).await.unwrap_err();
    assert!(matches!(error, TransactionError::Commit(_)), "{error:?}");
    assert_eq!(error.verdict(), Verdict::Permanent, "{error:?}");
}

pub(crate) async fn what_the_server_says_is_by_its_code() {
    let server = Server::start().await.unwrap();
    let client = server.connect().await.unwrap();
    accounts(&client).await;
    let mut holder = server.connect().await.unwrap();
    let held = lock(&mut holder, 1).await;
    let nowait = "SELECT * FROM account WHERE id = 1 FOR UPDATE NOWAIT";
    let slow = "SET statement_timeout = 10; SELECT pg_sleep(1)";
    let twice = "INSERT INTO account VALUES (2, 1)";
    let negative = "INSERT INTO account VALUES (3, -1)";
    for (statement, code, verdict) in [
        (nowait, "55P03", Verdict::Conflict),
        (slow, "57014", Verdict::Unknown),
        (twice, "23505", Verdict::Permanent),
        (negative, "23514", Verdict::Permanent),
        ("SELEC 1", "42601", Verdict::Permanent),
        ("SELECT 1/0", "22012", Verdict::Permanent),
        ("SELECT nothing FROM nowhere", "42P01", Verdict::Permanent),
    ] {
        let error = client.batch_execute(statement).await.unwrap_err();
        assert_eq!(error.code().map(SqlState::code), Some(code), "{error:?}");
        assert_eq!(error.verdict(), verdict, "{error:?}");
    }
    held.rollback().await.unwrap();
    let prepared = client.prepare("SELECT * FROM account").await.unwrap();
    holder
        .batch_execute("ALTER TABLE account ADD COLUMN owner text")
        .await
        .unwrap();
    let changed = client.query(&prepared, &[]).await.unwrap_err();
    assert_eq!(changed.code().map(SqlState::code), Some("0A000"));
    assert_eq!(changed.verdict(), Verdict::Refused, "{changed:?}");
    let text = client.query_one("SELECT 'text'", &[]).await.unwrap();
    let unread = text.try_get::<_, i32>(0).unwrap_err();
    assert_eq!(unread.verdict(), Verdict::Permanent, "{unread:?}");
    let rows = client.query_one("SELECT id FROM account", &[]).await;
    let rows = rows.unwrap_err();
    assert_eq!(rows.verdict(), Verdict::Permanent, "{rows:?}");
}

#[retry(attempts = 3, base = "1ms")]
async fn run(client: &Client, statement: &str) -> Result<(), tokio_postgres::Error> {
    client.batch_execute(statement).await
}

/// As two replicas of a service that start at once.
pub(crate) async fn two_sessions_that_make_the_same_thing_at_once_have_a_conflict() {
    let server = Server::start().await.unwrap();
    let (mut one, two) = two_sessions(&server.url()).await;
    accounts(&one).await;
    let other_names = "SELECT FROM pg_index JOIN pg_class ON oid = indexrelid
         WHERE indisunique AND relnamespace = 'pg_catalog'::regnamespace AND relname !~ '^pg_.*_index$'";
    assert!(one.query(other_names, &[]).await.unwrap().is_empty());
    for statement in [
        // 23505.
        "CREATE TABLE IF NOT EXISTS page (id int)",
        "CREATE SEQUENCE IF NOT EXISTS number",
        "CREATE SCHEMA IF NOT EXISTS shop",
        "CREATE OR REPLACE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        // XX000: the function and the table are there.
        "CREATE OR REPLACE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 2'",
        "GRANT SELECT ON account TO PUBLIC",
    ] {
        let transaction = one.transaction().await.unwrap();
        transaction.batch_execute(statement).await.unwrap();
        let ((second, report), ()) = tokio::join!(with_report(run(&two, statement)), async {
            server.until(1, "wait_event_type = 'Lock'").await;
            transaction.commit().await.unwrap();
        });
        second.unwrap();
        let report = report.unwrap();
        let end = (report.attempts(), report.verdict());
        assert_eq!(end, (2, Some(Verdict::Conflict)), "{statement}");
    }
}

pub(crate) async fn a_connection_that_cannot_be_made_is_refused() {
    let mut server = Server::start().await.unwrap();
    // The test opens more sessions than the server allows.
    let mut sessions = Vec::new();
    let turned_away = loop {
        match server.connect().await {
            Ok(session) => sessions.push(session),
            Err(error) => break error,
        }
    };
    assert_eq!(
        turned_away.code(),
        Some(&SqlState::TOO_MANY_CONNECTIONS),
        "{turned_away:?}"
    );
    assert_eq!(turned_away.verdict(), Verdict::Refused);

    server.stop();
    let refused = server.connect().await.map(drop).unwrap_err();
    assert_eq!(refused.verdict(), Verdict::Refused, "{refused:?}");
    // The server of this session was stopped, so the state of its request is unknown.
    let session = sessions.remove(0);
    while !session.is_closed() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let lost = session.query("SELECT 1", &[]).await.unwrap_err();
    assert_eq!(lost.verdict(), Verdict::Unknown, "{lost:?}");
    let missing =
        tokio_postgres::connect("host=/nowhere user=postgres", tokio_postgres::NoTls).await;
    assert_eq!(missing.map(drop).unwrap_err().verdict(), Verdict::Refused);
}

/// Connects in each attempt, with this setting, and updates a row that another transaction may have locked.
#[retry(attempts = 20, base = "10ms", max_delay = "50ms", timeout = "20s")]
async fn deposit(
    url: &str,
    begun: &watch::Sender<u32>,
) -> Result<(), TransactionError<tokio_postgres::Error>> {
    begun.send_modify(|attempts| *attempts += 1);
    let mut client = postgres::connect(url).await?;
    let transaction = client.transaction().await?;
    let statement = "UPDATE account SET balance = balance + 1 WHERE id = 1";
    transaction.execute(statement, &[]).await?;
    commit(transaction).await
}

pub(crate) async fn a_locked_row_is_waited_for_unless_statement_timeout_is_below_the_timeout() {
    const CUT: &str = "statement_timeout=0";
    let server = Server::start().await.unwrap();
    let mut holder = server.connect().await.unwrap();
    accounts(&holder).await;
    for (setting, waited_for) in [
        ("statement_timeout=50", false),
        ("lock_timeout=50", true),
        // The attempt is cut. Nothing but its end frees the server of the statement.
        (CUT, true),
    ] {
        let lock = lock(&mut holder, 1).await;
        let url = format!("{} options='-c {setting}'", server.url());
        let (begun, mut attempts) = watch::channel(0);
        let call = async move { with_report(deposit(&url, &begun)).await };
        let ((done, report), ()) = tokio::join!(call, async {
            if setting == CUT {
                server.until(1, "wait_event_type = 'Lock'").await;
                skip().await;
            }
            // Until an attempt has failed and the next begins, or until the call has ended.
            let _ = attempts.wait_for(|begun| *begun >= 2).await;
            lock.rollback().await.unwrap();
        });
        let attempts = report.unwrap().attempts();
        match done {
            Ok(()) => assert!(waited_for && attempts > 1, "{setting}: {attempts}"),
            Err(TransactionError::Statement(limit)) if !waited_for => {
                assert_eq!(attempts, 1, "{setting}");
                assert_eq!(limit.code(), Some(&SqlState::QUERY_CANCELED), "{limit:?}");
                assert_eq!(limit.verdict(), Verdict::Unknown);
            }
            Err(error) => panic!("{setting}: {error:?}"),
        }
    }
}

#[retry(
    idempotent = true,
    attempts = "unlimited",
    base = "10ms",
    max_delay = "100ms",
    deadline = "90s"
)]
async fn connect_at_start(url: &str) -> Result<Client, reattempt::Error<tokio_postgres::Error>> {
    Ok(postgres::connect(url).await?)
}

pub(crate) async fn a_program_that_starts_waits_for_its_server_and_not_for_its_database() {
    let server = Server::start().await.unwrap();
    for to in [To::Close, To::Reset] {
        let port = server.port();
        let starting = Proxy::start(move |number| if number < 2 { to } else { To::Server(port) });
        let url = postgres::url(starting.await.port);
        let (connected, report) = with_report(connect_at_start(&url)).await;
        connected.unwrap();
        assert_eq!(report.unwrap().attempts(), 3, "{to:?}");
    }
    let nowhere = format!("{} dbname=nowhere", server.url());
    let (_, report) = with_report(connect_at_start(&nowhere)).await;
    assert_eq!(report.unwrap().attempts(), 1);
}

/// What pgbouncer says, and what its verdict is, alone and before a `COMMIT`.
pub(crate) async fn a_pooler_that_has_no_server_for_a_session_refuses_it() {
    let mut server = Server::start().await.unwrap();
    let settings = "query_wait_timeout = 1\nmax_client_conn = 3\nserver_login_retry = 1";
    let port = server.port();
    let proxy = Proxy::start(move |_| To::Server(port)).await;
    let pooler = Pooler::start(proxy.port, settings).await.unwrap();
    let url = postgres::url(pooler.port);
    let said = |error: &tokio_postgres::Error| {
        let error = error.as_db_error().unwrap();
        let (severity, code) = (error.severity(), error.code().code());
        format!("{severity} {code} {}", error.message())
    };
    let (mut one, two) = two_sessions(&url).await;
    // The only connection to the server is taken, and then all sessions.
    let taken = one.transaction().await.unwrap();
    taken.batch_execute("SELECT 1").await.unwrap();
    let waited = two.batch_execute("SELECT 1").await.unwrap_err();
    assert_eq!(said(&waited), "FATAL 08P01 query_wait_timeout");
    assert_eq!(waited.verdict(), Verdict::Refused);
    let mut others = Vec::new();
    let full = loop {
        match postgres::connect(&url).await {
            Ok(other) => others.push(other),
            Err(full) => break full,
        }
    };
    assert_eq!(
        said(&full),
        "FATAL 08P01 no more connections allowed (max_client_conn)"
    );
    assert_eq!(full.verdict(), Verdict::Refused);
    // The connection to the server breaks in the middle of the transaction, and the server stays away.
    proxy.cut();
    let crashed = taken.batch_execute("SELECT 1").await.unwrap_err();
    assert_eq!(said(&crashed), "FATAL 08P01 server conn crashed?");
    server.stop();
    assert_eq!(crashed.verdict(), Verdict::Unknown, "{crashed:?}");
    let crashed = TransactionError::Statement(crashed);
    assert_eq!(crashed.verdict(), Verdict::Transient, "{crashed:?}");
    drop((others, two));
    let down = until_down(&url).await;
    assert!(said(&down).starts_with("FATAL 08P01 "), "{down:?}");
    assert_eq!(down.verdict(), Verdict::Refused, "{down:?}");
}

/// Connects until pgbouncer knows that it cannot reach its server.
async fn until_down(url: &str) -> tokio_postgres::Error {
    loop {
        let error = match postgres::connect(url).await {
            Ok(client) => match client.batch_execute("SELECT 1").await {
                Ok(()) => panic!("the server is down"),
                Err(error) => error,
            },
            Err(error) => error,
        };
        let text = error.as_db_error().map(|error| error.message().to_owned());
        if text.is_some_and(|text| !text.contains("max_client_conn")) {
            return error;
        }
    }
}
