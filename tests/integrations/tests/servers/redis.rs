//! Redis against a real server, killed and started again in the middle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use deadpool_redis::{Connection, Pool, Runtime};
use integrations::proxy::{Proxy, To};
use integrations::redis::{Server, connect, manager};
use reattempt::{Retryable, Stopped, Verdict, retry, with_report};
use redis::aio::{ConnectionLike, ConnectionManager, MultiplexedConnection};
use redis::{
    AsyncCommands as _, AsyncConnectionConfig, Client, ErrorKind, RedisError, RedisResult,
    ServerErrorKind,
};

/// Connects in each attempt, which is the simplest way to survive a restart.
#[retry(attempts = "unlimited", backoff = "constant", base = "100ms")]
async fn count(server: &Client, key: &str) -> Result<u64, RedisError> {
    let mut connection = connect(server).await?;
    connection.incr(key, 1).await
}

/// Uses a connection that reconnects by itself between attempts.
#[retry(
    attempts = "unlimited",
    backoff = "constant",
    base = "100ms",
    timeout = "60s"
)]
async fn count_managed(connection: &ConnectionManager, key: &str) -> anyhow_free::Result<u64> {
    Ok(connection.clone().incr(key, 1).await?)
}

/// An error type of the user that forwards the verdict of the adapter.
mod anyhow_free {
    #[derive(Debug, thiserror::Error, reattempt::Retryable)]
    #[retryable(forward)]
    pub(crate) enum Error {
        #[error(transparent)]
        Redis(#[from] redis::RedisError),
        #[error(transparent)]
        Stopped(#[from] reattempt::Stopped),
    }

    pub(crate) type Result<T> = std::result::Result<T, Error>;
}

/// On the same port, as soon as that is free.
async fn restart(server: &mut Server) {
    server.restart();
    while !server.answers().await {
        server.restart();
    }
}

pub(crate) async fn a_server_that_is_killed_and_restarted_is_waited_for() {
    let mut server = Server::start().await.unwrap();
    let client = server.client();
    assert_eq!(count(&client, "a").await.unwrap(), 1);
    server.kill();
    let (counted, _server) = tokio::join!(count(&client, "a"), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        restart(&mut server).await;
        server
    });
    // No attempt reached the server while it was down.
    assert_eq!(counted.unwrap(), 2);
}

pub(crate) async fn a_managed_connection_survives_a_restart() {
    let mut server = Server::start().await.unwrap();
    // The retries of the manager are off, because the test is about ours.
    let connection = ConnectionManager::new_with_config(server.client(), manager())
        .await
        .unwrap();
    assert_eq!(count_managed(&connection, "b").await.unwrap(), 1);
    server.kill();
    let (counted, ()) = tokio::join!(count_managed(&connection, "b"), restart(&mut server));
    assert_eq!(counted.unwrap(), 2);
}

pub(crate) async fn a_connection_that_was_lost_or_cannot_be_made_is_transient() {
    let mut server = Server::start().await.unwrap();
    let mut connection = server.connect().await.unwrap();
    let mut blocked = connection.clone();
    let waiting = tokio::spawn(async move {
        blocked
            .blpop::<_, Option<(String, String)>>("empty", 0.0)
            .await
    });
    connection.set::<_, _, ()>("c", 1).await.unwrap();
    server.kill();

    let lost = waiting.await.unwrap().unwrap_err();
    assert_eq!(lost.verdict(), Verdict::Transient, "{lost:?}");
    let gone = connection.get::<_, u8>("c").await.unwrap_err();
    assert_eq!(gone.verdict(), Verdict::Transient, "{gone:?}");
    let refused = server.connect().await.map(drop).unwrap_err();
    assert!(refused.is_connection_refusal(), "{refused:?}");
    // `redis` does not say whether a connection was open.
    assert_eq!(refused.verdict(), Verdict::Transient, "{refused:?}");
}

/// As the guide says of `BLPOP`.
pub(crate) async fn a_command_that_blocks_needs_a_connection_without_a_response_timeout() {
    async fn pop(mut connection: MultiplexedConnection) -> RedisResult<(String, String)> {
        connection.blpop("queue", 0.0).await
    }
    let server = Server::start().await.unwrap();
    let mut pushes = server.connect().await.unwrap();

    let config = AsyncConnectionConfig::new().set_connection_timeout(Some(Duration::from_mins(1)));
    let client = server.client();
    let hasty = client.get_multiplexed_async_connection_with_config(&config);
    let (hasty, begun) = (hasty.await.unwrap(), Instant::now());
    let late = pop(hasty.clone()).await.unwrap_err();
    assert!(late.is_timeout(), "{late:?}");
    let waited = begun.elapsed();
    assert!(waited >= Duration::from_millis(500) && waited < Duration::from_secs(20));
    // The server goes on, and gives the next element to a client that has gone.
    server.until_blocked(1).await;
    pushes.rpush::<_, _, ()>("queue", "lost").await.unwrap();
    server.until_blocked(0).await;
    assert_eq!(pushes.llen::<_, usize>("queue").await.unwrap(), 0);

    let config = config.set_response_timeout(None);
    let patient = client.get_multiplexed_async_connection_with_config(&config);
    let popped = tokio::spawn(pop(patient.await.unwrap()));
    server.until_blocked(1).await;
    integrations::skip().await;
    pushes.rpush::<_, _, ()>("queue", "job").await.unwrap();
    assert_eq!(popped.await.unwrap().unwrap().1, "job");
}

pub(crate) async fn what_the_server_says_is_by_its_kind() {
    let server = Server::start().await.unwrap();
    let mut connection = server.connect().await.unwrap();
    connection.set::<_, _, ()>("text", "abc").await.unwrap();

    let wrong_type = connection.incr::<_, _, u64>("text", 1).await.unwrap_err();
    assert_eq!(wrong_type.verdict(), Verdict::Permanent, "{wrong_type:?}");
    let unknown = command(&mut connection, &["NOSUCH"]).await.unwrap_err();
    assert_eq!(unknown.verdict(), Verdict::Permanent, "{unknown:?}");
    let unread = connection.get::<_, u8>("text").await.unwrap_err();
    assert_eq!(unread.verdict(), Verdict::Permanent, "{unread:?}");
    let password = Client::open(format!("redis://:wrong@127.0.0.1:{}/", server.port())).unwrap();
    let denied = password.get_multiplexed_async_connection().await;
    let denied = denied.map(drop).unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::AuthenticationFailed, "{denied:?}");
    assert_eq!(denied.verdict(), Verdict::Permanent, "{denied:?}");

    // While a script runs, the server refuses all other commands with `BUSY`.
    set(&mut connection, "lua-time-limit", "10").await;
    let mut endless = server.connect().await.unwrap();
    let script = ["EVAL", "while true do end", "0"];
    let script = tokio::spawn(async move { command(&mut endless, &script).await });
    // Until the script runs.
    let busy = loop {
        if let Err(error) = connection.get::<_, String>("text").await {
            break error;
        }
    };
    assert_eq!(busy.code(), Some("BUSY"), "{busy:?}");
    assert_eq!(busy.verdict(), Verdict::Refused, "{busy:?}");
    let killed = command(&mut connection, &["SCRIPT", "KILL"]).await;
    killed.unwrap();
    script.await.unwrap().unwrap_err();
}

async fn command(connection: &mut impl ConnectionLike, words: &[&str]) -> RedisResult<()> {
    let command = redis::cmd(words[0]).arg(&words[1..]).to_owned();
    command.query_async(connection).await
}

async fn set(connection: &mut impl ConnectionLike, setting: &str, value: &str) {
    let words = ["CONFIG", "SET", setting, value];
    command(connection, &words).await.unwrap();
}

async fn replicate(replica: &mut impl ConnectionLike, host: &str, port: &str) {
    command(replica, &["REPLICAOF", host, port]).await.unwrap();
}

async fn two() -> (Server, Server) {
    let (first, second) = tokio::join!(Server::start(), Server::start());
    (first.unwrap(), second.unwrap())
}

/// Two servers behind one name, which is that of the first.
async fn two_servers() -> (Server, Server, Proxy, Arc<AtomicU16>) {
    let (first, second) = two().await;
    let master = Arc::new(AtomicU16::new(first.port()));
    let named = Arc::clone(&master);
    let name = Proxy::start(move |_| To::Server(named.load(Ordering::Relaxed))).await;
    (first, second, name, master)
}

/// Makes the first server a replica of the second, to which the name then leads. Open connections stay.
async fn fail_over(first: &Server, second: &Server, master: &AtomicU16) {
    let mut old = first.connect().await.unwrap();
    replicate(&mut old, "127.0.0.1", &second.port().to_string()).await;
    master.store(second.port(), Ordering::Relaxed);
}

#[retry(attempts = 3, base = "1ms", timeout = "60s")]
async fn write_managed(connection: &ConnectionManager) -> anyhow_free::Result<u64> {
    Ok(connection.clone().incr("d", 1).await?)
}

#[derive(Debug, thiserror::Error, Retryable)]
#[retryable(forward)]
enum PooledError {
    #[error("no connection")]
    Pool(#[from] deadpool_redis::PoolError),
    #[error("the command failed")]
    Redis(#[from] RedisError),
    #[error("stopped")]
    Stopped(#[from] Stopped),
}

#[retry(attempts = 3, base = "1ms", timeout = "60s")]
async fn count_pooled(pool: &Pool) -> Result<u64, PooledError> {
    let mut connection = pool.get().await?;
    Ok(connection.incr("d", 1).await?)
}

/// As the guide's page on clients says.
#[retry(attempts = 3, base = "1ms", timeout = "60s")]
async fn count_on_a_master(pool: &Pool) -> Result<u64, PooledError> {
    let mut connection = pool.get().await?;
    let counted: RedisResult<u64> = connection.incr("d", 1).await;
    if counted.as_ref().is_err_and(is_read_only) {
        drop(Connection::take(connection));
    }
    Ok(counted?)
}

fn is_read_only(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
}

pub(crate) async fn after_a_failover_a_new_connection_writes_and_an_old_one_does_not() {
    let (first, second, name, master) = two_servers().await;
    let url = format!("redis://127.0.0.1:{}/", name.port);
    let client = Client::open(url.as_str()).unwrap();
    let managed = ConnectionManager::new_with_config(client.clone(), manager())
        .await
        .unwrap();
    let pool = deadpool_redis::Config::from_url(&url);
    let pool = pool.create_pool(Some(Runtime::Tokio1)).unwrap();
    drop(pool.get().await.unwrap());
    fail_over(&first, &second, &master).await;

    // The manager and the pool keep the connection to the old master.
    let (kept, report) = with_report(write_managed(&managed)).await;
    let kept = kept.unwrap_err();
    assert_eq!(kept.verdict(), Verdict::Refused, "{kept:?}");
    assert_eq!(report.unwrap().attempts(), 3);
    let kept = count_pooled(&pool).await.unwrap_err();
    assert!(
        matches!(&kept, PooledError::Redis(error) if is_read_only(error)),
        "{kept:?}"
    );

    let (counted, report) = with_report(count_on_a_master(&pool)).await;
    assert_eq!((counted.unwrap(), report.unwrap().attempts()), (1, 2));
    assert_eq!(count(&client, "d").await.unwrap(), 2);
}

#[retry(
    attempts = "unlimited",
    backoff = "constant",
    base = "20ms",
    idempotent = false
)]
async fn write_both(connection: &ConnectionManager) -> RedisResult<()> {
    let mut both = redis::pipe();
    both.atomic().set("e", 1).ignore().set("f", 1).ignore();
    both.query_async(&mut connection.clone()).await
}

pub(crate) async fn states_that_pass_are_waited_for() {
    let (first, second) = two().await;
    let mut admin = first.connect().await.unwrap();
    let connection = ConnectionManager::new_with_config(first.client(), manager())
        .await
        .unwrap();
    let soon = || tokio::time::sleep(Duration::from_millis(100));

    // A replica refuses a transaction whole. It becomes a master.
    replicate(&mut admin, "127.0.0.1", &second.port().to_string()).await;
    let (written, ()) = tokio::join!(write_both(&connection), async {
        soon().await;
        replicate(&mut admin, "NO", "ONE").await;
    });
    written.unwrap();

    // The replicas that a write needs come back.
    set(&mut admin, "min-replicas-to-write", "1").await;
    let lacking = admin.set::<_, _, ()>("g", 1).await.unwrap_err();
    assert_eq!(lacking.code(), Some("NOREPLICAS"), "{lacking:?}");
    assert_eq!(lacking.verdict(), Verdict::Refused);
    let client = first.client();
    let (counted, ()) = tokio::join!(count(&client, "h"), async {
        soon().await;
        set(&mut admin, "min-replicas-to-write", "0").await;
    });
    counted.unwrap();

    // A connection becomes free.
    for password in ["", "secret"] {
        let mut held = first.connect().await.unwrap();
        set(&mut admin, "maxclients", "3").await;
        set(&mut admin, "requirepass", password).await;
        let url = format!("redis://:{password}@127.0.0.1:{}/", first.port());
        let client = Client::open(url).unwrap();
        let refused = connect(&client).await.map(drop);
        let refused = refused.unwrap_err();
        assert!(refused.verdict().is_retryable(), "{refused:?}");
        let (counted, ()) = tokio::join!(count(&client, "i"), async {
            soon().await;
            drop(command(&mut held, &["QUIT"]).await);
        });
        counted.unwrap();
        set(&mut admin, "maxclients", "100").await;
    }
}

pub(crate) async fn what_may_have_run_is_not_refused() {
    let (first, second) = two().await;
    let mut connection = first.connect().await.unwrap();
    let mut other = first.connect().await.unwrap();
    connection.set::<_, _, ()>("text", "abc").await.unwrap();

    // `EXEC` says what kept it from running.
    command(&mut connection, &["MULTI"]).await.unwrap();
    connection.set::<_, _, ()>("text", "def").await.unwrap();
    replicate(&mut other, "127.0.0.1", &second.port().to_string()).await;
    let aborted = command(&mut connection, &["EXEC"]).await.unwrap_err();
    assert_eq!(aborted.code(), Some("EXECABORT"), "{aborted:?}");
    assert_eq!(aborted.verdict(), Verdict::Refused, "{aborted:?}");

    // Of a pipeline, the commands before the refused one ran.
    let mut pipeline = redis::pipe();
    pipeline.cmd("PING").set("text", "def");
    let half = pipeline.query_async::<()>(&mut other).await.unwrap_err();
    assert_eq!(half.verdict(), Verdict::Transient, "{half:?}");
    pipeline.cmd("NOSUCH");
    let wrong = pipeline.query_async::<()>(&mut other).await.unwrap_err();
    assert_eq!(wrong.verdict(), Verdict::Permanent, "{wrong:?}");

    replicate(&mut other, "NO", "ONE").await;
    set(&mut other, "maxmemory", "1").await;
    let full = other.set::<_, _, ()>("text", "def").await.unwrap_err();
    assert_eq!(full.code(), Some("OOM"), "{full:?}");
    assert_eq!(full.verdict(), Verdict::Unknown);
}
