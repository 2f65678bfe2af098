//! What goes wrong: the payment service stops for some seconds, a worker is killed twice, and commits are broken.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use integrations::commit_proxy::{End, Passed};
use sqlx::PgPool;
use tokio::time::sleep;

use crate::Failure;
use crate::processes::Workers;
use crate::service::Service;

/// How long the payment service is down.
pub(crate) const OUTAGE: Duration = Duration::from_secs(3);

/// Lets everything go wrong. Returns how many jobs were under way in the workers when they were killed.
pub(crate) async fn happen(
    service: &mut Service,
    workers: &mut Workers,
    pool: &PgPool,
) -> Result<i64, Failure> {
    sleep(Duration::from_secs(1)).await;
    // So an outage begins: the shop cannot know that these orders are charged.
    service.withhold_answers("shop").await;
    println!("the payment service charges, and does not answer");
    sleep(Duration::from_millis(500)).await;
    service.stop();
    println!("the payment service is down for {OUTAGE:?}");

    sleep(OUTAGE / 2).await;
    let (name, first) = loop {
        if let Some(busiest) = under_way(pool, "%").await? {
            break busiest;
        }
        sleep(Duration::from_millis(10)).await;
    };
    workers.kill(&name)?;
    println!("a worker was killed while it tried to charge {first} orders");

    sleep(OUTAGE / 2).await;
    // On a busy machine it takes longer until the queue has an order that will be refused.
    while !declined_is_queued(pool).await? {
        sleep(Duration::from_millis(10)).await;
    }
    service.restart().await?;
    println!("the payment service is back");

    // The worst moment: the order is charged, and the worker does not know it yet.
    let name = service.withhold_answers("worker").await;
    let second = under_way(pool, &name).await?.map_or(0, |(_, jobs)| jobs);
    workers.kill(&name)?;
    service.answer();
    println!("a worker with {second} orders was killed after a charge, before its answer");
    Ok(first + second)
}

/// Breaks commits of the shop: of ten, one takes effect and its answer is lost, and one never arrives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commits(Arc<AtomicUsize>);

impl Commits {
    /// What happens to the next commit.
    pub(crate) fn next(&self) -> Option<(Passed, End)> {
        Self::nth(self.0.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn broken(&self) -> usize {
        let commits = 0..self.0.load(Ordering::Relaxed);
        commits.filter_map(Self::nth).count()
    }

    fn nth(commit: usize) -> Option<(Passed, End)> {
        let passed = match commit % 10 {
            3 => Passed::REQUEST,
            7 => Passed(0),
            _ => return None,
        };
        Some((passed, End::Close))
    }
}

/// Whether an order with a card that will be declined waits in the queue.
async fn declined_is_queued(pool: &PgPool) -> Result<bool, sqlx::Error> {
    let queued = "SELECT EXISTS (SELECT FROM orders WHERE state = 'queued' AND number % 10 = 9)";
    sqlx::query_scalar(queued).fetch_one(pool).await
}

/// Of the workers whose names match, the one with the most jobs, and how many it has.
async fn under_way(pool: &PgPool, names: &str) -> Result<Option<(String, i64)>, sqlx::Error> {
    let busiest = "SELECT lock_by, count(*) FROM apalis.jobs
        WHERE lock_by LIKE $1 AND status IN ('Queued', 'Running')
        GROUP BY lock_by ORDER BY count(*) DESC LIMIT 1";
    sqlx::query_as(busiest)
        .bind(names)
        .fetch_optional(pool)
        .await
}
