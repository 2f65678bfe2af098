//! A process that runs the jobs.

use std::task::{Context, Poll};
use std::time::Duration;

use apalis::prelude::{
    AbortError, Attempt, BackendExt as _, BoxDynError, Data, PollSnapshot, PollStrategy, TaskId,
    WorkerBuilder, WorkerBuilderExt as _,
};
use reattempt::{Policy, Retryable as _, Verdict};
use sqlx::PgPool;
use tokio::time::{Interval, interval};

use crate::charge::{Payments, charge};
use crate::orders::{self, State};
use crate::queue::{self, Job};

/// No caller waits for a worker, so it bridges seconds by itself.
const PATIENT: Policy = Policy::new()
    .with_attempts(5)
    .with_timeout(Duration::from_secs(1))
    .with_deadline(Duration::from_secs(5));

/// How many jobs it runs at once.
const AT_A_TIME: usize = 8;

/// How often it looks for jobs when there are none.
const POLL: Duration = Duration::from_millis(50);

/// Lets an idle worker look for jobs.
///
/// The `IntervalStrategy` of apalis 1.0 may lose its timer while a query runs. The worker then sleeps forever.
struct Ticks(Interval);

impl PollStrategy for Ticks {
    fn poll_drive(&mut self, cx: &mut Context<'_>, _: &PollSnapshot) -> Poll<Option<()>> {
        while self.0.poll_tick(cx).is_ready() {}
        Poll::Pending
    }
}

/// What each job needs.
#[derive(Clone)]
struct Shop {
    pool: PgPool,
    payments: Payments,
}

/// Runs jobs until it fails.
///
/// No worker before it had its name. Under an old name, its heartbeats would keep the jobs of a dead process from the
/// others.
///
/// # Errors
///
/// - The database is lost, even for a moment. Whoever started the process starts another one.
pub(crate) async fn run(name: &str, pool: PgPool, payments: Payments) -> Result<(), BoxDynError> {
    let worker = WorkerBuilder::new(name)
        // Otherwise it looks for jobs with each heartbeat.
        .backend(queue::storage(&pool).poll_with_strategy(Ticks(interval(POLL))))
        .data(Shop { pool, payments })
        .concurrency(AT_A_TIME)
        .build(work);
    Ok(worker.run().await?)
}

/// Charges an order. The key is that of the first call, so it does not matter whether that one, or a worker that was
/// killed, has charged it already.
async fn work(job: Job, attempt: Attempt, id: TaskId, shop: Data<Shop>) -> Result<(), BoxDynError> {
    let Err(error) = charge(&shop.payments, PATIENT, &job.key, &job.order).await else {
        return Ok(orders::end(&shop.pool, &job.key, State::Charged).await?);
    };
    if error.verdict() == Verdict::Permanent {
        orders::end(&shop.pool, &job.key, State::Refused).await?;
        // The engine buries the job.
        return Err(AbortError::new(error).into());
    }
    if !queue::postpone(&shop.pool, &id, attempt.current()).await? {
        orders::end(&shop.pool, &job.key, State::Buried).await?;
    }
    // The engine counts the attempt, and buries the job after the last one.
    Err(error.into())
}
