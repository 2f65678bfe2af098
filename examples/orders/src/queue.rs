//! The queue: jobs in Postgres, and when each is tried again.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use apalis::prelude::{TaskBuilder, TaskId};
use apalis_postgres::queries::push_tasks;
use apalis_postgres::{Config, PostgresStorage};
use reattempt::Policy;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};

use crate::charge::Order;

const NAME: &str = "charges";

/// An hour of the queue takes 1.2 s here. In your program: `Duration::from_mins(minutes)`.
const fn minutes(minutes: u64) -> Duration {
    Duration::from_millis(20 * minutes)
}

/// When a job is tried again: within five minutes, then within ten, up to two hours. After about a day it is buried.
const TRIES: Policy = Policy::new()
    .with_attempts(30)
    .with_base(minutes(5))
    .with_max_delay(minutes(120));

/// What a worker has to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) key: String,
    pub(crate) order: Order,
}

/// How workers read the queue.
pub(crate) fn storage(pool: &PgPool) -> PostgresStorage<Job> {
    let config = Config::default()
        .queue(NAME)
        // A worker with jobs in stock, and none of its places free, sends no heartbeats.
        .batch_size(1)
        // The jobs of a worker go to others after it was silent for two seconds. This has to be a whole number of
        // seconds. The defaults are 30 s and 10: five minutes.
        .heartbeat_interval(Duration::from_millis(250))
        .missed_heartbeats(8);
    PostgresStorage::new(pool).with_config(config)
}

/// Puts a job into the queue, when the transaction around commits.
pub(crate) async fn push(
    transaction: &mut PgConnection,
    key: &str,
    order: &Order,
) -> Result<(), sqlx::Error> {
    let job = Job {
        key: key.to_owned(),
        order: order.clone(),
    };
    let job = serde_json::to_vec(&job).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let attempts = TRIES.attempts().unwrap_or(u32::MAX);
    let task = TaskBuilder::new(job)
        .max_attempts(attempts as usize)
        .idempotency_key(key);
    push_tasks(transaction, NAME, vec![task.build()])
        .await
        .map_err(|error| match error {
            apalis_postgres::Error::Database(error) => error,
            other => sqlx::Error::Encode(other.into()),
        })
}

/// Lets a job wait after this attempt, counted from 1. Returns `false` if it was the last one.
pub(crate) async fn postpone(
    pool: &PgPool,
    id: &TaskId,
    attempt: usize,
) -> Result<bool, sqlx::Error> {
    let attempt = u32::try_from(attempt).unwrap_or(u32::MAX);
    if TRIES.attempts().is_some_and(|most| attempt >= most) {
        return Ok(false);
    }
    // Each job draws delays of its own. Else all of them would come back in the same second.
    let range = TRIES.delay_range(attempt - 1, None);
    let [low, high, ..] = RandomState::new().hash_one(attempt).to_ne_bytes();
    let drawn = f64::from(u16::from_ne_bytes([low, high])) / f64::from(u16::MAX);
    let delay = *range.start() + range.end().saturating_sub(*range.start()).mul_f64(drawn);
    // apalis-postgres 1.0 takes a failed job again as soon as `run_at` has passed, and never moves it. The delay of its
    // `RetryAfterError` is lost.
    sqlx::query("UPDATE apalis.jobs SET run_at = now() + $2 * interval '1 second' WHERE id = $1")
        .bind(id.to_string())
        .bind(delay.as_secs_f64())
        .execute(pool)
        .await?;
    Ok(true)
}
