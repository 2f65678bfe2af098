//! The loops that an expert writes by hand: attempts, one timer an attempt for whichever limit is
//! nearer, full jitter, a deadline that is not slept past.

use std::io;
use std::time::Duration;

use rand::RngExt as _;
use tokio::time::{Instant, sleep, timeout_at};

use crate::subject::{work, work_failing, work_pending};

const ATTEMPTS: u32 = 4;
const TIMEOUT: Duration = Duration::from_millis(1500);
const DEADLINE: Duration = Duration::from_secs(5);
const BASE: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(20);

fn is_temporary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::TimedOut
    )
}

fn delay(attempt: u32) -> Duration {
    let ceiling = BASE
        .saturating_mul(1 << (attempt - 1).min(20))
        .min(MAX_DELAY);
    rand::rng().random_range(Duration::ZERO..=ceiling)
}

async fn timed_loop(mut call: impl AsyncFnMut() -> io::Result<u64>) -> io::Result<u64> {
    let deadline = Instant::now() + DEADLINE;
    let mut attempt = 0;
    loop {
        attempt += 1;
        let limit = (Instant::now() + TIMEOUT).min(deadline);
        let error = match timeout_at(limit, call()).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) if is_temporary(&error) => error,
            Ok(Err(error)) => return Err(error),
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
        let delay = delay(attempt);
        if attempt == ATTEMPTS || Instant::now() + delay >= deadline {
            return Err(error);
        }
        sleep(delay).await;
    }
}

async fn untimed_loop(mut call: impl AsyncFnMut() -> io::Result<u64>) -> io::Result<u64> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        match call().await {
            Ok(value) => return Ok(value),
            Err(error) if attempt < ATTEMPTS && is_temporary(&error) => {
                sleep(delay(attempt)).await;
            }
            Err(error) => return Err(error),
        }
    }
}

pub(crate) async fn timed(input: u64) -> io::Result<u64> {
    timed_loop(async || work(input).await).await
}

pub(crate) async fn untimed(input: u64) -> io::Result<u64> {
    untimed_loop(async || work(input).await).await
}

pub(crate) async fn timed_pending(input: u64) -> io::Result<u64> {
    timed_loop(async || work_pending(input).await).await
}

pub(crate) async fn untimed_pending(input: u64) -> io::Result<u64> {
    untimed_loop(async || work_pending(input).await).await
}

/// Without waiting, as the annotated one has a base of zero: what is compared is the decision.
pub(crate) async fn failing(input: u64) -> io::Result<u64> {
    let deadline = Instant::now() + DEADLINE;
    let (mut attempt, mut calls) = (0, 0);
    loop {
        attempt += 1;
        let error = match timeout_at(deadline, work_failing(input, &mut calls)).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) if is_temporary(&error) => error,
            Ok(Err(error)) => return Err(error),
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
        let delay = rand::rng().random_range(Duration::ZERO..=Duration::ZERO);
        if attempt == ATTEMPTS || Instant::now() + delay >= deadline {
            return Err(error);
        }
        tokio::task::yield_now().await;
    }
}
