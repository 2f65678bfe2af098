//! One version of `sqlx` against PostgreSQL and MariaDB. The module around names the crate `client`, and the
//! module of `reattempt` `adapter`.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use integrations::pgbouncer::Pooler;
use integrations::proxy::{Proxy, To};
use integrations::{mariadb, postgres, skip, until};
use reattempt::{Attempt, Outcome, Retryable as _, Verdict, retry, with_report};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpStream, UnixListener};
use tokio::sync::Barrier;

use super::adapter::{TransactionError, commit};
use super::client::mysql::{MySqlConnection, MySqlPool, MySqlPoolOptions};
use super::client::postgres::{PgConnection, PgPool, PgPoolOptions};
use super::client::{
    Connection as _, Database, Error, Executor, Pool, Row as _, query, query_scalar,
};

/// How long a connection may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

fn postgres_url(port: u16) -> String {
    format!("postgres://postgres@127.0.0.1:{port}/postgres")
}

pub(crate) const ACCOUNTS: &str =
    "CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL)";
pub(crate) const BALANCES: &str = "INSERT INTO account VALUES (1, 100), (2, 100)";

/// Runs statements one by one, each in its own transaction.
pub(crate) async fn run<DB: Database>(pool: &Pool<DB>, statements: &[&'static str])
where
    for<'c> &'c Pool<DB>: Executor<'c, Database = DB>,
{
    for statement in statements {
        pool.execute(*statement).await.unwrap();
    }
}

pub(crate) async fn failure<DB: Database>(pool: &Pool<DB>, statement: &'static str) -> Error
where
    for<'c> &'c Pool<DB>: Executor<'c, Database = DB>,
{
    pool.execute(statement).await.err().unwrap()
}

pub(crate) fn code(error: &Error) -> Option<String> {
    let code = error.as_database_error()?.code()?;
    Some(code.into_owned())
}

/// Updates two rows in this order, in one transaction.
macro_rules! update_both {
    ($name:ident, $pool:ty) => {
        #[retry(attempts = 5, base = "1ms")]
        async fn $name(
            pool: &$pool,
            order: [&'static str; 2],
            together: &Barrier,
            attempts: &AtomicU32,
        ) -> Result<(), TransactionError<Error>> {
            let first = attempts.fetch_add(1, Ordering::Relaxed) == 0;
            let mut transaction = pool.begin().await?;
            transaction.execute(order[0]).await?;
            if first {
                together.wait().await;
            }
            transaction.execute(order[1]).await?;
            commit(transaction).await
        }
    };
}

update_both!(update_both_in_postgres, PgPool);
update_both!(update_both_in_mariadb, MySqlPool);

pub(crate) const ONE: &str = "UPDATE account SET balance = balance + 1 WHERE id = 1";
pub(crate) const TWO: &str = "UPDATE account SET balance = balance + 1 WHERE id = 2";

pub(crate) async fn a_deadlock_in_postgres_runs_the_whole_transaction_again() {
    let server = postgres::Server::start().await.unwrap();
    let pool = PgPool::connect(&postgres_url(server.port())).await.unwrap();
    run(&pool, &[ACCOUNTS, BALANCES]).await;
    let (together, attempts) = (Barrier::new(2), [AtomicU32::new(0), AtomicU32::new(0)]);
    let (one, two) = tokio::join!(
        update_both_in_postgres(&pool, [ONE, TWO], &together, &attempts[0]),
        update_both_in_postgres(&pool, [TWO, ONE], &together, &attempts[1]),
    );
    one.and(two).unwrap();
    let attempts: u32 = attempts.map(AtomicU32::into_inner).iter().sum();
    // More if the one that was ended begins again and takes its first row before the other has woken up.
    assert!(attempts >= 3, "{attempts} attempts");
    let sum: i64 = query_scalar("SELECT sum(balance)::bigint FROM account")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(sum, 204);
}

pub(crate) async fn an_error_of_postgres_is_by_its_sqlstate() {
    let server = postgres::Server::start().await.unwrap();
    let pool = PgPool::connect(&postgres_url(server.port())).await.unwrap();
    run(&pool, &[ACCOUNTS, BALANCES, "CREATE SEQUENCE number"]).await;
    for (statement, expected, verdict) in [
        (BALANCES, "23505", Verdict::Permanent),
        ("SELECT nonsense", "42703", Verdict::Permanent),
        // The object is not in the state that the statement needs.
        ("SELECT currval('number')", "55000", Verdict::Permanent),
        // The text looks like an error of MySQL, but is not.
        (
            "DO 'BEGIN RAISE EXCEPTION ''1213 (40001): not what it says''; END'",
            "P0001",
            Verdict::Permanent,
        ),
        (
            "DO 'BEGIN RAISE EXCEPTION ''rolled back'' USING ERRCODE = ''40000''; END'",
            "40000",
            Verdict::Conflict,
        ),
        ("EXECUTE nothing", "26000", Verdict::Unknown),
        // As Supavisor says it.
        (
            "DO 'BEGIN RAISE EXCEPTION ''(EMAXCONN) max client connections reached, limit: 9'' USING ERRCODE = ''XX000''; END'",
            "XX000",
            Verdict::Refused,
        ),
    ] {
        let error = failure(&pool, statement).await;
        assert_eq!(code(&error).as_deref(), Some(expected), "{error:?}");
        assert_eq!(error.verdict(), verdict, "{error:?}");
    }
    // Another session uses the database.
    run(&pool, &["CREATE DATABASE template"]).await;
    let url = postgres_url(server.port()).replace("/postgres", "/template");
    let url = url.replace("//template", "//postgres");
    let user = PgConnection::connect(&url).await.unwrap();
    let in_use = failure(&pool, "CREATE DATABASE copy TEMPLATE template").await;
    assert_eq!(code(&in_use).as_deref(), Some("55006"), "{in_use:?}");
    assert_eq!(in_use.verdict(), Verdict::Transient);
    user.close().await.unwrap();
}

static PAID: AtomicU32 = AtomicU32::new(0);

#[retry(attempts = 5, base = "1ms")]
async fn pay(url: &str) -> Result<(), TransactionError<Error>> {
    PAID.fetch_add(1, Ordering::Relaxed);
    let mut connection = PgConnection::connect(url).await?;
    let mut transaction = connection.begin().await?;
    transaction.execute(ONE).await?;
    commit(transaction).await
}

pub(crate) async fn a_connection_lost_during_commit_is_unknown_and_not_retried() {
    let server = postgres::Server::start().await.unwrap();
    let pool = PgPool::connect(&postgres_url(server.port())).await.unwrap();
    run(&pool, &[ACCOUNTS, BALANCES]).await;
    let port = crate::tokio_postgres::cut_at_commit(server.port()).await;
    let error = pay(&postgres_url(port)).await.unwrap_err();
    assert!(matches!(error, TransactionError::Commit(_)), "{error:?}");
    assert_eq!(error.verdict(), Verdict::Unknown, "{error:?}");
    assert_eq!(PAID.load(Ordering::Relaxed), 1);
    // The commit took effect, so a retry would have paid twice.
    let sum: i64 = query_scalar("SELECT sum(balance)::bigint FROM account")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(sum, 201);
}

static CUT: AtomicU32 = AtomicU32::new(0);

#[retry(attempts = 5, base = "1ms", timeout = "20s")]
async fn pay_in_time(url: &str) -> Result<(), TransactionError<Error>> {
    CUT.fetch_add(1, Ordering::Relaxed);
    let mut connection = PgConnection::connect(url).await?;
    let mut transaction = connection.begin().await?;
    transaction.execute(ONE).await?;
    commit(transaction).await
}

pub(crate) async fn a_timeout_during_commit_is_unknown_and_not_retried() {
    let server = postgres::Server::start().await.unwrap();
    let pool = PgPool::connect(&postgres_url(server.port())).await.unwrap();
    run(&pool, &[ACCOUNTS, BALANCES]).await;
    let port = crate::tokio_postgres::hang_at_commit(server.port()).await;
    let sum = async || -> i64 {
        let sum = query_scalar("SELECT sum(balance)::bigint FROM account");
        sum.fetch_one(&pool).await.unwrap()
    };
    let url = postgres_url(port);
    let (paid, ()) = tokio::join!(pay_in_time(&url), async {
        // The commit takes effect, and its answer never comes.
        until("the payment", async || sum().await == 201).await;
        skip().await;
    });
    let error = paid.unwrap_err();
    assert!(matches!(error, TransactionError::Stopped(_)), "{error:?}");
    assert_eq!(error.verdict(), Verdict::Unknown, "{error:?}");
    assert_eq!(CUT.load(Ordering::Relaxed), 1);
    assert_eq!(sum().await, 201);
}

pub(crate) async fn a_lost_connection_is_unknown_and_transient_before_the_commit() {
    let mut server = postgres::Server::start().await.unwrap();
    let url = postgres_url(server.port());
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let waiting = tokio::spawn(async move { connection.execute("SELECT pg_sleep(60)").await });
    server.until(1, "wait_event = 'PgSleep'").await;
    server.stop();
    let ended = waiting.await.unwrap().unwrap_err();
    // The server reports that it stops.
    assert_eq!(code(&ended).as_deref(), Some("57P01"), "{ended:?}");
    assert_eq!(ended.verdict(), Verdict::Transient, "{ended:?}");
    let refused = PgConnection::connect(&url).await.err().unwrap();
    // An `Io` does not say whether a connection was open.
    assert_eq!(refused.verdict(), Verdict::Unknown, "{refused:?}");

    let mut server = mariadb::Server::start().await.unwrap();
    let mut connection = MySqlConnection::connect(&server.url()).await.unwrap();
    server.kill();
    // The server reports nothing.
    let lost = connection.execute("SELECT 1").await.unwrap_err();
    assert!(matches!(lost, Error::Io(_)), "{lost:?}");
    assert_eq!(lost.verdict(), Verdict::Unknown, "{lost:?}");
    let statement = TransactionError::Statement(lost);
    assert_eq!(statement.verdict(), Verdict::Transient, "{statement:?}");
}

pub(crate) async fn a_pool_tries_to_connect_until_its_acquire_timeout_and_then_refuses() {
    const LIMIT: Duration = Duration::from_millis(300);
    let mut server = postgres::Server::start().await.unwrap();
    server.stop();
    let pool = PgPoolOptions::new().acquire_timeout(LIMIT);
    let pool = pool.connect_lazy(&postgres_url(server.port())).unwrap();
    let began = Instant::now();
    let refused = pool.begin().await.err().unwrap();
    // A connection of its own is refused at once.
    assert!(began.elapsed() >= LIMIT, "{:?}", began.elapsed());
    assert!(matches!(refused, Error::PoolTimedOut), "{refused:?}");
    assert_eq!(refused.verdict(), Verdict::Refused);
}

pub(crate) async fn a_conflict_in_mariadb_runs_the_whole_transaction_again() {
    let server = mariadb::Server::start().await.unwrap();
    let pool = MySqlPool::connect(&server.url()).await.unwrap();
    // Only the deadlock ends a wait, however busy the machine is.
    let patient = "SET GLOBAL innodb_lock_wait_timeout = 600";
    run(&pool, &[ACCOUNTS, BALANCES, patient]).await;
    pool.close().await;
    let pool = MySqlPool::connect(&server.url()).await.unwrap();
    let (together, attempts) = (Barrier::new(2), [AtomicU32::new(0), AtomicU32::new(0)]);
    let (one, two) = tokio::join!(
        update_both_in_mariadb(&pool, [ONE, TWO], &together, &attempts[0]),
        update_both_in_mariadb(&pool, [TWO, ONE], &together, &attempts[1]),
    );
    one.and(two).unwrap();
    let attempts: u32 = attempts.map(AtomicU32::into_inner).iter().sum();
    assert_eq!(attempts, 3);

    run(&pool, &["SET GLOBAL innodb_lock_wait_timeout = 1"]).await;
    pool.close().await;
    let pool = MySqlPool::connect(&server.url()).await.unwrap();
    // A lock timeout has the general SQLSTATE `HY000`, so the number decides.
    let mut holder = pool.begin().await.unwrap();
    holder.execute(ONE).await.unwrap();
    let waited = failure(&pool, ONE).await;
    assert_eq!(code(&waited).as_deref(), Some("HY000"), "{waited:?}");
    assert_eq!(waited.verdict(), Verdict::Conflict, "{waited:?}");
    holder.rollback().await.unwrap();

    for statement in [BALANCES, "SELECT nonsense"] {
        let error = failure(&pool, statement).await;
        assert_eq!(error.verdict(), Verdict::Permanent, "{error:?}");
    }
}

pub(crate) async fn a_mariadb_without_a_free_connection_refuses() {
    let server = mariadb::Server::start().await.unwrap();
    let mut held = Vec::new();
    let refused = loop {
        match MySqlConnection::connect(&server.url()).await {
            Ok(connection) => held.push(connection),
            Err(error) => break error,
        }
    };
    assert!(held.len() >= 10, "{}", held.len());
    // This error has no SQLSTATE yet, so the number decides.
    assert_eq!(code(&refused), None, "{refused:?}");
    assert_eq!(refused.verdict(), Verdict::Refused, "{refused:?}");
}

#[retry(
    idempotent = true,
    attempts = "unlimited",
    base = "10ms",
    max_delay = "100ms",
    deadline = "90s"
)]
async fn connect_at_start(url: &str, limit: Duration) -> Result<PgPool, reattempt::Error<Error>> {
    let pool = PgPoolOptions::new().acquire_timeout(limit);
    Ok(pool.connect(url).await?)
}

/// As the guide's page on clients says.
pub(crate) async fn a_program_that_starts_waits_for_its_server_and_not_for_its_password() {
    let mut server = postgres::Server::start().await.unwrap();
    let url = postgres_url(server.port());
    server.stop();
    let limit = Duration::from_secs(1);
    let (pool, ()) = tokio::join!(connect_at_start(&url, limit), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.restart().await;
    });
    let pool = pool.unwrap();

    for to in [To::Close, To::Reset] {
        let port = server.port();
        let starting = Proxy::start(move |number| if number < 2 { to } else { To::Server(port) });
        let url = postgres_url(starting.await.port);
        let (connected, report) = with_report(connect_at_start(&url, PATIENCE)).await;
        connected.unwrap().close().await;
        assert_eq!(report.unwrap().attempts(), 3, "{to:?}");
    }

    // Its Unix socket is not there yet.
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join(".s.PGSQL.5432");
    let url = format!(
        "postgres://postgres@localhost/postgres?host={}",
        folder.path().display()
    );
    let connecting = with_report(connect_at_start(&url, PATIENCE));
    let ((connected, report), ()) = tokio::join!(connecting, async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let listener = UnixListener::bind(&socket).unwrap();
        let (mut client, _) = listener.accept().await.unwrap();
        let server = TcpStream::connect(("127.0.0.1", server.port())).await;
        tokio::spawn(async move { copy_bidirectional(&mut client, &mut server.unwrap()).await });
    });
    connected.unwrap().close().await;
    assert!(report.unwrap().attempts() > 1);

    let url = postgres_url(server.port());
    let ask_for_password = "DO 'BEGIN EXECUTE format(''COPY (SELECT %L) TO %L'',
        ''host all all all scram-sha-256'', current_setting(''hba_file'')); END'";
    let nowhere = url.replace("/postgres", "/nowhere");
    let nowhere = nowhere.replace("//nowhere", "//postgres");
    for (prepare, expected) in [("SELECT 1", "3D000"), (ask_for_password, "28P01")] {
        run(&pool, &[prepare, "SELECT pg_reload_conf()"]).await;
        // The server rereads its file after the answer. Then it refuses a session for a database that there is, too.
        until(expected, async || {
            expected != "28P01" || PgConnection::connect(&url).await.is_err()
        })
        .await;
        let (refused, report) = with_report(connect_at_start(&nowhere, PATIENCE)).await;
        let refused = match refused {
            Err(reattempt::Error::Failed(error)) => error,
            other => panic!("{other:?}"),
        };
        assert_eq!(code(&refused).as_deref(), Some(expected), "{refused:?}");
        let report = report.unwrap();
        let end = (report.attempts(), report.outcome());
        assert_eq!(end, (1, Outcome::NotRetryable), "{refused:?}");
    }
}

/// Takes a minute in the first attempt.
async fn select(pool: &PgPool) -> Result<i32, Error> {
    let first = Attempt::current().is_some_and(|attempt| attempt.number() == 1);
    query_scalar("SELECT 1 FROM pg_sleep($1)")
        .bind(if first { 60.0 } else { 0.0 })
        .fetch_one(pool)
        .await
}

#[retry(base = "1ms", idempotent = true)]
async fn read(pool: &PgPool) -> Result<i32, Error> {
    select(pool).await
}

#[retry(base = "1ms", on = "Error")]
async fn read_or_write(pool: &PgPool) -> Result<i32, Error> {
    select(pool).await
}

pub(crate) async fn a_query_whose_connection_is_lost_is_retried_if_that_does_no_harm() {
    let server = postgres::Server::start().await.unwrap();
    let port = server.port();
    let name = Proxy::start(move |_| To::Server(port)).await;
    let pool = PgPool::connect(&postgres_url(name.port)).await.unwrap();
    // The server goes on with what was cut.
    let cut = async |statements| {
        server.until(statements, "wait_event = 'PgSleep'").await;
        name.cut();
    };
    let ((done, report), ()) = tokio::join!(with_report(read(&pool)), cut(1));
    assert_eq!((done.unwrap(), report.unwrap().attempts()), (1, 2));
    let (lost, ()) = tokio::join!(read_or_write(&pool), cut(2));
    assert_eq!(lost.unwrap_err().verdict(), Verdict::Unknown);
}

/// As the guide's page on clients says.
fn is_read_only(error: &Error) -> bool {
    let said = error.as_database_error();
    said.is_some_and(|said| {
        said.code().as_deref() == Some("25006") || said.message().contains("--read-only")
    })
}

macro_rules! write {
    ($name:ident, $pool:ty) => {
        #[retry(base = "1ms", when = |error| is_read_only(error) || error.verdict().is_retryable())]
        async fn $name(pool: &$pool) -> Result<(), Error> {
            let mut connection = pool.acquire().await?;
            let written = connection.execute(ONE).await;
            if written.as_ref().is_err_and(is_read_only) {
                connection.close_on_drop();
            }
            written.map(drop)
        }
    };
}

write!(write_in_postgres, PgPool);
write!(write_in_mariadb, MySqlPool);

pub(crate) async fn after_a_failover_a_new_connection_writes() {
    let (old, new) = (
        postgres::Server::start().await.unwrap(),
        postgres::Server::start().await.unwrap(),
    );
    for server in [&old, &new] {
        let pool = PgPool::connect(&postgres_url(server.port())).await.unwrap();
        run(&pool, &[ACCOUNTS, BALANCES]).await;
    }
    let primary = std::sync::Arc::new(std::sync::atomic::AtomicU16::new(old.port()));
    let named = std::sync::Arc::clone(&primary);
    let name = Proxy::start(move |_| To::Server(named.load(Ordering::Relaxed))).await;
    let pool = PgPoolOptions::new().max_connections(1);
    let pool = pool.connect(&postgres_url(name.port)).await.unwrap();
    run(&pool, &["SET default_transaction_read_only = on"]).await;
    primary.store(new.port(), Ordering::Relaxed);

    let kept = failure(&pool, ONE).await;
    assert_eq!(code(&kept).as_deref(), Some("25006"), "{kept:?}");
    assert_eq!(kept.verdict(), Verdict::Unknown, "{kept:?}");
    let (written, report) = with_report(write_in_postgres(&pool)).await;
    written.unwrap();
    assert_eq!(report.unwrap().attempts(), 2);
}

#[retry(base = "1ms")]
async fn columns(pool: &PgPool) -> Result<usize, Error> {
    let mut connection = pool.acquire().await?;
    let row = query("SELECT * FROM account").fetch_one(&mut *connection);
    let row = row.await.inspect_err(|_| connection.close_on_drop())?;
    Ok(row.columns().len())
}

pub(crate) async fn after_a_migration_a_new_connection_reads() {
    let server = postgres::Server::start().await.unwrap();
    let pool = PgPoolOptions::new().max_connections(1);
    let pool = pool.connect(&postgres_url(server.port())).await.unwrap();
    run(&pool, &[ACCOUNTS, BALANCES]).await;
    let before = columns(&pool).await.unwrap();

    run(&pool, &["ALTER TABLE account ADD COLUMN owner text"]).await;
    let (after, report) = with_report(columns(&pool)).await;
    assert_eq!(after.unwrap(), before + 1);
    let report = report.unwrap();
    assert_eq!(report.attempts(), 2);
}

#[retry(
    attempts = "unlimited",
    backoff = "constant",
    base = "20ms",
    budget = "none",
    idempotent = false
)]
async fn log_in(url: &str) -> Result<MySqlConnection, Error> {
    MySqlConnection::connect(url).await
}

pub(crate) async fn what_mariadb_says_is_by_its_number() {
    let server = mariadb::Server::start().await.unwrap();
    let pool = MySqlPool::connect(&server.url()).await.unwrap();
    let said = |error: &Error, number: &str, verdict: Verdict| {
        let text = error.as_database_error().unwrap().to_string();
        assert!(text.starts_with(number), "{text}");
        assert_eq!(error.verdict(), verdict, "{text}");
    };
    run(&pool, &[ACCOUNTS, BALANCES]).await;
    run(
        &pool,
        &[
            "CREATE USER one WITH MAX_USER_CONNECTIONS 1",
            "CREATE USER two",
            "GRANT SELECT, UPDATE ON mysql.account TO one, two",
        ],
    )
    .await;

    // As proxies pass it on.
    for (statement, number, verdict) in [
        (
            "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 2013, MESSAGE_TEXT = 'Lost connection to server during query'",
            "2013",
            Verdict::Unknown,
        ),
        (
            "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 2003, MESSAGE_TEXT = 'Can''t connect to remote MySQL server'",
            "2003",
            Verdict::Refused,
        ),
        (
            "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1927, MESSAGE_TEXT = 'Lost connection to backend server: network error'",
            "1927",
            Verdict::Unknown,
        ),
        (
            "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 9501, MESSAGE_TEXT = 'Timed-out waiting to acquire database connection'",
            "9501",
            Verdict::Refused,
        ),
    ] {
        let error = failure(&pool, statement).await;
        said(&error, number, verdict);
        let before = TransactionError::Statement(error);
        assert!(before.verdict().is_retryable(), "{before:?}");
    }

    // The account has one connection.
    let one = server.url().replace("root", "one");
    let held = MySqlConnection::connect(&one).await.unwrap();
    let refused = MySqlConnection::connect(&one).await.err().unwrap();
    said(&refused, "1226", Verdict::Refused);
    let (logged_in, ()) = tokio::join!(log_in(&one), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        held.close().await.unwrap();
    });
    logged_in.unwrap().close().await.unwrap();

    let slow = "SET STATEMENT max_statement_time = 0.05 FOR SELECT SLEEP(5)";
    said(&failure(&pool, slow).await, "1969", Verdict::Unknown);
    run(&pool, &["SET GLOBAL max_prepared_stmt_count = 0"]).await;
    let full = query("SELECT 1 + 1").execute(&pool).await.unwrap_err();
    said(&full, "1461", Verdict::Throttled);
    run(&pool, &["SET GLOBAL max_prepared_stmt_count = 1000"]).await;

    let mut session = pool.acquire().await.unwrap();
    let begin = "START TRANSACTION WITH CONSISTENT SNAPSHOT";
    session.execute(begin).await.unwrap();
    run(&pool, &["ALTER TABLE account FORCE"]).await;
    let changed = session.execute("SELECT * FROM account").await.unwrap_err();
    said(&changed, "1412", Verdict::Conflict);
    session.execute("ROLLBACK").await.unwrap();
    session
        .execute("START TRANSACTION READ ONLY")
        .await
        .unwrap();
    let read_only = session.execute(ONE).await.unwrap_err();
    said(&read_only, "1792", Verdict::Unknown);
    session.execute("ROLLBACK").await.unwrap();

    // The whole server is read-only for all but its administrators, as a replica is.
    let two = server.url().replace("root", "two");
    let writer = MySqlPool::connect(&two).await.unwrap();
    run(&pool, &["SET GLOBAL read_only = 1"]).await;
    said(&failure(&writer, ONE).await, "1290", Verdict::Unknown);
    let (_, report) = with_report(write_in_mariadb(&writer)).await;
    assert_eq!(report.unwrap().attempts(), 3);
    run(&pool, &["SET GLOBAL read_only = 0"]).await;
    write_in_mariadb(&writer).await.unwrap();
}

pub(crate) async fn a_pooler_that_has_no_server_for_a_session_refuses_it() {
    let server = postgres::Server::start().await.unwrap();
    let port = server.port();
    let proxy = Proxy::start(move |_| To::Server(port)).await;
    let settings = "query_wait_timeout = 1\nmax_client_conn = 2";
    let pooler = Pooler::start(proxy.port, settings).await.unwrap();
    let url = postgres_url(pooler.port);
    let connect = async || PgConnection::connect(&url).await;
    let (mut one, mut two) = (connect().await.unwrap(), connect().await.unwrap());
    one.execute("BEGIN").await.unwrap();
    let full = connect().await.unwrap_err();
    let waited = two.execute("SELECT 1").await.unwrap_err();
    for (error, text) in [
        (&full, "no more connections allowed (max_client_conn)"),
        (&waited, "query_wait_timeout"),
    ] {
        let said = error.as_database_error().unwrap();
        assert_eq!(
            (code(error).as_deref(), said.message()),
            (Some("08P01"), text)
        );
        assert_eq!(error.verdict(), Verdict::Refused, "{error:?}");
    }
    proxy.cut();
    let crashed = one.execute("SELECT 1").await.unwrap_err();
    assert_eq!(code(&crashed).as_deref(), Some("08P01"));
    assert_eq!(crashed.verdict(), Verdict::Unknown, "{crashed:?}");
    let crashed = TransactionError::Statement(crashed);
    assert_eq!(crashed.verdict(), Verdict::Transient, "{crashed:?}");
}

/// Writes through the pool after an attempt that was cut in `begin()`. Returns whether the others see it.
macro_rules! writes_after_a_cut {
    ($name:ident, $pool:ty) => {
        async fn $name(pool: &$pool, others: &$pool) -> bool {
            #[retry(attempts = 2, base = "1ms", timeout = "20ms")]
            async fn begin(pool: &$pool) -> Result<(), TransactionError<Error>> {
                pool.begin().await?;
                Ok(())
            }
            let sum = async || -> String {
                let sum = query_scalar("SELECT CAST(sum(balance) AS char(9)) FROM account");
                sum.fetch_one(others).await.unwrap()
            };
            let before = sum().await;
            begin(pool).await.unwrap_err();
            run(pool, &[ONE]).await;
            sum().await != before
        }
    };
}

writes_after_a_cut!(writes_in_postgres, PgPool);
writes_after_a_cut!(writes_in_mariadb, MySqlPool);

/// As the guide's page on databases says.
pub(crate) async fn a_session_that_is_cut_in_its_begin_loses_writes_unless_its_pool_ends_it() {
    let (server, other) = tokio::join!(postgres::Server::start(), mariadb::Server::start());
    let (server, other) = (server.unwrap(), other.unwrap());

    let port = server.port();
    let others = PgPool::connect(&postgres_url(port)).await.unwrap();
    run(&others, &[ACCOUNTS, BALANCES]).await;
    let url = postgres_url(Proxy::start(move |_| To::Late(port)).await.port);
    let pool = || {
        PgPoolOptions::new()
            .max_connections(1)
            .test_before_acquire(false)
    };
    let ends = pool().after_release(|session, _| {
        Box::pin(async move {
            // False in a transaction. The pool closes the connection then.
            let row = session
                .fetch_one("SELECT now() = statement_timestamp()")
                .await?;
            row.try_get(0)
        })
    });
    for (pool, writes) in [(pool(), false), (ends, true)] {
        let pool = pool.connect(&url).await.unwrap();
        assert_eq!(writes_in_postgres(&pool, &others).await, writes);
        // A session in no transaction stays.
        let mut sessions: [i32; 2] = [0; 2];
        for session in &mut sessions {
            *session = query_scalar("SELECT pg_backend_pid()")
                .fetch_one(&pool)
                .await
                .unwrap();
        }
        assert_eq!(sessions[0], sessions[1]);
    }

    let others = MySqlPool::connect(&other.url()).await.unwrap();
    run(&others, &[ACCOUNTS, BALANCES]).await;
    let port = others.connect_options().get_port();
    let url = other.url().replace(
        &port.to_string(),
        &Proxy::start(move |_| To::Late(port)).await.port.to_string(),
    );
    let pool = || {
        MySqlPoolOptions::new()
            .max_connections(1)
            .test_before_acquire(false)
    };
    let ends = pool().after_release(|session, _| {
        Box::pin(async move { session.execute("ROLLBACK").await.map(|_| true) })
    });
    for (pool, writes) in [(pool(), false), (ends, true)] {
        let pool = pool.connect(&url).await.unwrap();
        assert_eq!(writes_in_mariadb(&pool, &others).await, writes);
    }
}
