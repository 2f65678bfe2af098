//! Connections that are kept open: `LISTEN` of PostgreSQL, and a lease in Redis.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::poll_fn;
use std::time::Duration;

use integrations::redis::connect;
use integrations::{postgres, redis as redis_server, until};
use reattempt::{Attempt, Retryable, retry};
use redis::{Client, RedisError, cmd};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, NoTls};

/// Reads the rows of a table as they come, until this one.
#[retry(
    attempts = "unlimited",
    base = "10ms",
    max_delay = "30s",
    idempotent = true
)]
async fn follow(url: &str, seen: &Cell<i32>, last: i32) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = tokio_postgres::connect(url, NoTls).await?;
    let (wake, mut woken) = mpsc::unbounded_channel();
    let notified = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(_) = message? {
                let _ = wake.send(());
            }
        }
        Ok(())
    };
    let reads = async {
        // In the other order, what is written between the two would be missed.
        client.batch_execute("LISTEN work").await?;
        while seen.get() < last {
            for row in client
                .query(
                    "SELECT id FROM work WHERE id > $1 ORDER BY id",
                    &[&seen.get()],
                )
                .await?
            {
                seen.set(row.get(0));
            }
            if seen.get() < last {
                let _ = woken.recv().await;
                Attempt::record_progress();
            }
        }
        Ok(())
    };
    tokio::select! {
        ended = reads => ended,
        // Its error says why the session ended.
        lost = notified => {
            lost?;
            unreachable!("`client` is open")
        }
    }
}

pub(crate) async fn what_is_written_between_two_sessions_is_read() {
    let server = postgres::Server::start().await.unwrap();
    let writer = server.connect().await.unwrap();
    writer
        .batch_execute("CREATE TABLE work (id int)")
        .await
        .unwrap();
    let (seen, url) = (Cell::new(0), server.url());
    let write = async {
        for id in 1..=3 {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%work WHERE%' AND pid <> pg_backend_pid()";
            writer.batch_execute(end).await.unwrap();
            let insert = format!("INSERT INTO work VALUES ({id}); NOTIFY work");
            writer.batch_execute(&insert).await.unwrap();
            until("the row is read", async || seen.get() == id).await;
        }
    };
    let (followed, ()) = tokio::join!(follow(&url, &seen, 3), write);
    followed.unwrap();
}

const LEASE: Duration = Duration::from_millis(900);

#[derive(Debug, thiserror::Error, Retryable)]
enum NoLease {
    #[error("another process has it, or took it")]
    #[retryable(transient)]
    Held,
    #[error("Redis failed")]
    #[retryable(forward)]
    Redis(#[from] RedisError),
}

/// Holds a lease, and works meanwhile, under its number. The work ends before the lease does.
#[retry(attempts = "unlimited", backoff = "constant", base = "50ms")]
async fn lead(client: &Client, me: &str, leads: &Cell<u64>) -> Result<Infallible, NoLease> {
    let mut connection = connect(client).await?;
    let millis: u64 = LEASE.as_millis().try_into().unwrap_or(u64::MAX);
    let mut take = cmd("EVAL");
    // The number of the lease goes with each write of its work, and the store refuses an older one.
    take.arg(
        "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and redis.call('INCR', KEYS[2])",
    );
    let take = take.arg(2).arg("lease").arg("leases").arg(me).arg(millis);
    // The lease begins before this answer, which may take a quarter of it. The wait and the renewal take two more.
    let taken = timeout(LEASE / 4, take.query_async(&mut connection)).await;
    let number: Option<u64> = taken.map_err(|_| NoLease::Held)??;
    leads.set(number.ok_or(NoLease::Held)?);
    let mut renew = cmd("EVAL");
    renew.arg(
        "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2])",
    );
    renew.arg(1).arg("lease").arg(me).arg(millis);
    loop {
        sleep(LEASE / 4).await;
        let renewed = timeout(LEASE / 4, renew.query_async(&mut connection)).await;
        if let Ok(Ok(true)) = renewed {
            Attempt::record_progress();
            continue;
        }
        leads.set(0);
        return Err(match renewed {
            Ok(Err(error)) => error.into(),
            _ => NoLease::Held,
        });
    }
}

pub(crate) async fn a_lease_that_is_lost_ends_the_work_until_it_is_free() {
    let server = redis_server::Server::start().await.unwrap();
    let (client, leads) = (server.client(), Cell::new(0));
    let changes = async {
        until("it leads", async || leads.get() == 1).await;
        // Another process took it, as after a pause of this one.
        let mut other = server.connect().await.unwrap();
        let mut take = cmd("SET");
        let take = take.arg("lease").arg("other").arg("PX").arg(1_500);
        take.exec_async(&mut other).await.unwrap();
        until("it has lost", async || leads.get() == 0).await;
        let held: bool = cmd("EXISTS")
            .arg("lease")
            .query_async(&mut other)
            .await
            .unwrap();
        assert!(held);
        until("it leads again", async || leads.get() == 2).await;
    };
    tokio::select! {
        Err(ended) = lead(&client, "this one", &leads) => panic!("{ended}"),
        () = changes => {}
    }
}
