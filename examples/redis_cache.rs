//! A cache in Redis, through a server that is killed and comes back.
//!
//! ```text
//! cargo run -p integrations --example redis_cache
//! ```
//!
//! It starts its own `redis-server`.

use std::error::Error;
use std::time::Duration;

use integrations::redis::Server;
use reattempt::{RetryEvent, retry};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{AsyncCommands as _, RedisError};

/// Reads a value. The manager reconnects by itself, but the command that was on the lost connection fails, so it is
/// retried here.
#[retry(attempts = 100, base = "20ms", max_delay = "500ms", on_retry = tell)]
async fn read(cache: &ConnectionManager, key: &str) -> Result<Option<String>, RedisError> {
    cache.clone().get(key).await
}

/// Writes a value, with a time to live in seconds. It may run twice, because the result is the same.
#[retry(attempts = 100, base = "20ms", max_delay = "500ms", on_retry = tell)]
async fn write(cache: &ConnectionManager, key: &str, value: &str) -> Result<(), RedisError> {
    cache.clone().set_ex(key, value, 60).await
}

/// Counts. It must not run twice, so it is retried only if it certainly never ran.
#[retry(attempts = 20, base = "20ms", max_delay = "500ms", idempotent = false, on_retry = tell)]
async fn count(cache: &ConnectionManager, key: &str) -> Result<u64, RedisError> {
    cache.clone().incr(key, 1).await
}

fn tell(event: &RetryEvent<'_, RedisError>) {
    let failure = event
        .error()
        .map_or_else(|| "timed out".to_owned(), ToString::to_string);
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {failure} ({verdict}), again in {delay:.0?}");
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut server = Server::start().await?;
    // The manager's own retries are off, because retries of two loops multiply.
    let config = ConnectionManagerConfig::new().set_number_of_retries(0);
    let cache = ConnectionManager::new_with_config(server.client(), config).await?;
    write(&cache, "greeting", "hello").await?;
    println!(
        "written, and read again: {:?}",
        read(&cache, "greeting").await?
    );

    println!("The server is killed, and started again a moment later:");
    server.kill();
    let (found, server) = tokio::join!(read(&cache, "greeting"), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        server.restart();
        server
    });
    println!("  read: {:?}", found?);

    println!("Killed while a count may be on its way, which must not be done twice:");
    let mut server = server;
    server.kill();
    match count(&cache, "visits").await {
        Ok(visits) => println!("  counted: {visits}"),
        Err(error) => println!("  not retried: {error}"),
    }
    Ok(())
}
