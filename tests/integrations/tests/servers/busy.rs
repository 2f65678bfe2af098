//! What an attempt that was cut leaves behind on a connection, and what the next attempt gets.
//!
//! The server works on the first statement for longer than a test takes. Nothing but a cut ends an attempt that waits for it.

use std::convert::Infallible;
use std::future::{pending, ready};
use std::time::Duration;

use bb8_postgres::PostgresConnectionManager;
use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime,
};
use integrations::grpc::{self, Service};
use integrations::proxy::{Proxy, To};
use integrations::{postgres, redis as redis_server, skip};
use reattempt::{Attempt, Error, Retryable, Stopped, retry, with_report};
use redis::aio::MultiplexedConnection;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio::time::sleep;
use tokio_postgres::{Client, NoTls};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

#[derive(Debug, thiserror::Error, Retryable)]
#[retryable(forward)]
enum BusyError {
    #[error("no connection")]
    Pool(#[from] PoolError),
    #[error("the statement failed")]
    Statement(#[from] tokio_postgres::Error),
    #[error("stopped")]
    Stopped(#[from] Stopped),
}

fn statement() -> &'static str {
    match Attempt::current().unwrap().number() {
        1 => "SELECT pg_sleep(60)",
        _ => "SELECT 1",
    }
}

/// Makes a call, and cuts so many of its attempts: the first as soon as the server is busy with it, and each other one after a
/// second, in which it could have succeeded.
async fn cut<F: Future>(attempts: u32, busy: impl Future<Output = ()>, call: F) -> F::Output {
    let cuts = async {
        busy.await;
        skip().await;
        for _ in 1..attempts {
            sleep(Duration::from_secs(1)).await;
            skip().await;
        }
        pending::<Infallible>().await
    };
    tokio::select! {
        biased;
        output = call => output,
        never = cuts => match never {},
    }
}

/// Until the server works on so many first statements. It goes on with those of earlier calls.
async fn sleep_in(server: &postgres::Server, calls: usize) {
    server.until(calls, "wait_event = 'PgSleep'").await;
}

fn pool(server: &postgres::Server, recycling_method: RecyclingMethod) -> Pool {
    let config = ManagerConfig { recycling_method };
    let manager = Manager::from_config(server.url().parse().unwrap(), NoTls, config);
    Pool::builder(manager)
        .max_size(4)
        .recycle_timeout(Some(Duration::from_millis(100)))
        .runtime(Runtime::Tokio1)
        .build()
        .unwrap()
}

#[retry(attempts = 3, base = "1ms", timeout = "20s")]
async fn pooled(pool: &Pool) -> Result<(), BusyError> {
    let client = pool.get().await?;
    client.batch_execute(statement()).await?;
    Ok(())
}

/// Takes the connection out of the pool, unless the statement came to its end.
struct Taken(Option<Object>);

impl Drop for Taken {
    fn drop(&mut self) {
        drop(self.0.take().map(Object::take));
    }
}

#[retry(attempts = 3, base = "1ms", timeout = "20s")]
async fn guarded(pool: &Pool) -> Result<(), BusyError> {
    let mut client = Taken(Some(pool.get().await?));
    let held = client.0.as_ref().unwrap();
    held.batch_execute(statement()).await?;
    drop(client.0.take());
    Ok(())
}

type Bb8 = bb8::Pool<PostgresConnectionManager<NoTls>>;

#[retry(attempts = 3, base = "1ms", timeout = "20s", when = |_| true)]
async fn bb8_pooled(pool: &Bb8) -> Result<(), Error<bb8::RunError<tokio_postgres::Error>>> {
    let client = pool.get().await?;
    let done = client.batch_execute(statement()).await;
    Ok(done.map_err(bb8::RunError::User)?)
}

#[retry(attempts = 3, base = "1ms", timeout = "20s", when = |_| true)]
async fn bb8_dedicated(pool: &Bb8) -> Result<(), Error<tokio_postgres::Error>> {
    let client: Client = pool.dedicated_connection().await?;
    Ok(client.batch_execute(statement()).await?)
}

pub(crate) async fn a_cut_attempt_leaves_a_busy_connection_in_a_pool_that_does_not_test_it() {
    let server = postgres::Server::start().await.unwrap();
    let fast = pool(&server, RecyclingMethod::Fast);
    let (stopped, report) = cut(3, sleep_in(&server, 1), with_report(pooled(&fast))).await;
    assert!(matches!(stopped, Err(BusyError::Stopped(_))), "{stopped:?}");
    assert_eq!(report.unwrap().attempts(), 3);
    assert_eq!(fast.status().size, 1, "three slots were free");

    let manager = PostgresConnectionManager::new(server.url().parse().unwrap(), NoTls);
    let bb8 = Bb8::builder()
        .max_size(4)
        .connection_timeout(Duration::from_mins(5));
    let bb8 = bb8.build(manager).await.unwrap();
    let (stopped, report) = cut(3, sleep_in(&server, 2), with_report(bb8_pooled(&bb8))).await;
    stopped.unwrap_err();
    assert_eq!(report.unwrap().attempts(), 3);
    let (done, report) = cut(1, sleep_in(&server, 3), with_report(bb8_dedicated(&bb8))).await;
    done.unwrap();
    assert_eq!(report.unwrap().attempts(), 2);
}

pub(crate) async fn a_pool_that_tests_its_connections_in_time_gives_another_one() {
    let server = postgres::Server::start().await.unwrap();
    let verified = pool(&server, RecyclingMethod::Verified);
    let (done, report) = cut(1, sleep_in(&server, 1), with_report(pooled(&verified))).await;
    done.unwrap();
    assert_eq!(report.unwrap().attempts(), 2);

    let fast = pool(&server, RecyclingMethod::Fast);
    let (done, report) = cut(1, sleep_in(&server, 2), with_report(guarded(&fast))).await;
    done.unwrap();
    assert_eq!(report.unwrap().attempts(), 2);
}

#[retry(attempts = 3, base = "1ms", timeout = "20s")]
async fn sqlx_pooled(pool: &PgPool) -> Result<(), Error<sqlx::Error>> {
    sqlx::raw_sql(statement()).execute(pool).await?;
    Ok(())
}

pub(crate) async fn the_pool_of_sqlx_gives_another_connection() {
    let server = postgres::Server::start().await.unwrap();
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    for (calls, connections, succeeds) in [(1, 4, true), (2, 1, false)] {
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(Duration::from_mins(5));
        let pool = pool.connect(&url).await.unwrap();
        let attempts = if succeeds { 2 } else { 3 };
        let cuts = if succeeds { 1 } else { 3 };
        let busy = sleep_in(&server, calls);
        let (done, report) = cut(cuts, busy, with_report(sqlx_pooled(&pool))).await;
        assert_eq!(done.is_ok(), succeeds, "{connections}: {done:?}");
        assert_eq!(report.unwrap().attempts(), attempts, "{connections}");
    }
}

async fn command(connection: &mut MultiplexedConnection) -> redis::RedisResult<()> {
    let mut command = match Attempt::current().unwrap().number() {
        1 => redis::cmd("BLPOP"),
        _ => redis::cmd("LLEN"),
    };
    command.arg("queue");
    if Attempt::current().unwrap().number() == 1 {
        command.arg(0);
    }
    command.query_async(connection).await
}

#[retry(attempts = 3, base = "1ms", timeout = "20s")]
async fn shared(connection: &MultiplexedConnection) -> Result<(), Error<redis::RedisError>> {
    Ok(command(&mut connection.clone()).await?)
}

#[retry(attempts = 3, base = "1ms", timeout = "20s")]
async fn alone(client: &redis::Client) -> Result<(), Error<redis::RedisError>> {
    let mut connection = redis_server::connect(client).await?;
    Ok(command(&mut connection).await?)
}

type RedisPoolError = deadpool_redis::PoolError;

#[retry(attempts = 10, base = "1ms", timeout = "20s", on = "redis::RedisError")]
async fn redis_pooled(pool: &deadpool_redis::Pool) -> Result<(), Error<RedisPoolError>> {
    let mut connection = pool.get().await?;
    Ok(command(&mut connection)
        .await
        .map_err(RedisPoolError::Backend)?)
}

pub(crate) async fn a_blocking_command_holds_up_its_connection_and_no_other() {
    let server = redis_server::Server::start().await.unwrap();
    let connection = server.connect().await.unwrap();
    let busy = server.until_blocked(1);
    let (stopped, report) = cut(3, busy, with_report(shared(&connection))).await;
    stopped.unwrap_err();
    assert_eq!(report.unwrap().attempts(), 3);
    let (client, busy) = (server.client(), server.until_blocked(2));
    let (done, report) = cut(1, busy, with_report(alone(&client))).await;
    done.unwrap();
    assert_eq!(report.unwrap().attempts(), 2);

    // The command reaches the client's own timeout, and so does the test of its connection.
    let url = format!("redis://127.0.0.1:{}/", server.port());
    let pool = deadpool_redis::Config::from_url(url);
    let pool = pool.create_pool(Some(Runtime::Tokio1)).unwrap();
    let (done, report) = with_report(redis_pooled(&pool)).await;
    done.unwrap();
    // More, if a busy machine reaches the timeout too: it is half a second.
    assert!(report.unwrap().attempts() >= 2);
}

#[retry(attempts = 3, base = "1ms", timeout = "20s")]
async fn check(
    client: &HealthClient<tonic::transport::Channel>,
) -> Result<(), Error<tonic::Status>> {
    client.clone().check(HealthCheckRequest::default()).await?;
    Ok(())
}

pub(crate) async fn a_shared_connection_that_is_dead_is_replaced_if_its_client_pings() {
    let server = Service::start(|_| None).await;
    let port = server.address.port();
    let name = Proxy::start(move |_| To::Server(port)).await;
    let endpoint = grpc::endpoint(([127, 0, 0, 1], name.port).into());
    let pinging = endpoint
        .clone()
        .http2_keep_alive_interval(Duration::from_millis(100))
        // A connection that is only slow must not look dead.
        .keep_alive_timeout(Duration::from_secs(2));
    for (endpoint, succeeds) in [(endpoint, false), (pinging, true)] {
        let client = HealthClient::new(endpoint.connect_lazy());
        check(&client).await.unwrap();
        name.freeze();
        let call = with_report(check(&client));
        let (done, report) = if succeeds {
            call.await
        } else {
            cut(3, ready(()), call).await
        };
        assert_eq!(done.is_ok(), succeeds, "{done:?}");
        let attempts = report.unwrap().attempts();
        assert_eq!(attempts, if succeeds { 2 } else { 3 });
    }
}
