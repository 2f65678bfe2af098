//! Redis against a real server, killed and started again in the middle.

use std::time::Duration;

use integrations::redis::Server;
use reattempt::{Retryable as _, Verdict, retry};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{AsyncCommands as _, Client, ErrorKind, RedisError};

/// Connects in each attempt, which is the simplest way to survive a restart.
#[retry(attempts = 200, backoff = "constant", base = "100ms")]
async fn count(server: &Client, key: &str) -> Result<u64, RedisError> {
    let mut connection = server.get_multiplexed_async_connection().await?;
    connection.incr(key, 1).await
}

/// Uses a connection that reconnects by itself between attempts.
#[retry(attempts = 200, backoff = "constant", base = "100ms", timeout = "2s")]
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

pub(crate) async fn a_server_that_is_killed_and_restarted_is_waited_for() {
    let mut server = Server::start().await.unwrap();
    let client = server.client();
    assert_eq!(count(&client, "a").await.unwrap(), 1);
    server.kill();
    let (counted, _server) = tokio::join!(count(&client, "a"), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.restart();
        server
    });
    // No attempt reached the server while it was down.
    assert_eq!(counted.unwrap(), 2);
}

pub(crate) async fn a_managed_connection_survives_a_restart() {
    let mut server = Server::start().await.unwrap();
    // The retries of the manager are off, because the test is about ours.
    let config = ConnectionManagerConfig::new().set_number_of_retries(0);
    let connection = ConnectionManager::new_with_config(server.client(), config)
        .await
        .unwrap();
    assert_eq!(count_managed(&connection, "b").await.unwrap(), 1);
    server.kill();
    server.restart();
    assert_eq!(count_managed(&connection, "b").await.unwrap(), 2);
}

pub(crate) async fn a_connection_that_was_lost_is_transient_and_none_is_refused() {
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
    assert_eq!(refused.verdict(), Verdict::Refused, "{refused:?}");
}

pub(crate) async fn what_the_server_says_is_by_its_kind() {
    let server = Server::start().await.unwrap();
    let mut connection = server.connect().await.unwrap();
    connection.set::<_, _, ()>("text", "abc").await.unwrap();

    let wrong_type = connection.incr::<_, _, u64>("text", 1).await.unwrap_err();
    assert_eq!(wrong_type.verdict(), Verdict::Permanent, "{wrong_type:?}");
    let unknown = redis::cmd("NOSUCH")
        .query_async::<()>(&mut connection)
        .await
        .unwrap_err();
    assert_eq!(unknown.verdict(), Verdict::Permanent, "{unknown:?}");
    let unread = connection.get::<_, u8>("text").await.unwrap_err();
    assert_eq!(unread.verdict(), Verdict::Permanent, "{unread:?}");
    let password = Client::open(format!("redis://:wrong@127.0.0.1:{}/", server.port())).unwrap();
    let denied = password
        .get_multiplexed_async_connection()
        .await
        .map(drop)
        .unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::AuthenticationFailed, "{denied:?}");
    assert_eq!(denied.verdict(), Verdict::Permanent, "{denied:?}");

    // While a script runs, the server refuses all other commands with `BUSY`.
    redis::cmd("CONFIG")
        .arg(&["SET", "lua-time-limit", "10"])
        .query_async::<()>(&mut connection)
        .await
        .unwrap();
    let mut endless = server.connect().await.unwrap();
    let script = tokio::spawn(async move {
        redis::cmd("EVAL")
            .arg(&["while true do end", "0"])
            .query_async::<()>(&mut endless)
            .await
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let busy = connection.get::<_, String>("text").await.unwrap_err();
    assert_eq!(busy.code(), Some("BUSY"), "{busy:?}");
    assert_eq!(busy.verdict(), Verdict::Refused, "{busy:?}");
    redis::cmd("SCRIPT")
        .arg("KILL")
        .query_async::<()>(&mut connection)
        .await
        .unwrap();
    script.await.unwrap().unwrap_err();
}
