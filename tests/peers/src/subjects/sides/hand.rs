//! The loop that an expert writes by hand. It has one timer in each attempt, for the nearer limit, and full
//! jitter. It begins no wait that would end after the deadline.

use std::io;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::op::{Op, R, big, tiny};
use crate::policy::{ATTEMPTS, DEADLINE, DELAY, TIMEOUT, is_temporary};

/// Full jitter below the ceiling of this attempt.
fn delay(attempt: u32) -> Duration {
    let ceiling = DELAY.saturating_mul(1 << (attempt - 1).min(20)).min(DELAY);
    let nanos = u64::try_from(ceiling.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(fastrand::u64(0..=nanos))
}

macro_rules! free {
    ($name:ident, $body:ident) => {
        pub(crate) async fn $name(op: &'static Op) -> R {
            let mut attempt = 0;
            loop {
                attempt += 1;
                let error = match async { $body!(op) }.await {
                    Ok(value) => return Ok(value),
                    Err(error) => error,
                };
                if attempt == ATTEMPTS || !is_temporary(&error) {
                    return Err(error);
                }
                sleep(delay(attempt)).await;
            }
        }
    };
}

macro_rules! limited {
    ($name:ident, $body:ident) => {
        pub(crate) async fn $name(op: &'static Op) -> R {
            let deadline = Instant::now() + DEADLINE;
            let mut attempt = 0;
            loop {
                attempt += 1;
                let limit = (Instant::now() + TIMEOUT).min(deadline);
                let error = match timeout_at(limit, async { $body!(op) }).await {
                    Ok(Ok(value)) => return Ok(value),
                    Ok(Err(error)) => error,
                    Err(_) => io::ErrorKind::TimedOut.into(),
                };
                let until = Instant::now() + delay(attempt);
                if attempt == ATTEMPTS || !is_temporary(&error) || until >= deadline {
                    return Err(error);
                }
                sleep_until(until).await;
            }
        }
    };
}

free!(tiny_free, tiny);
free!(big_free, big);
limited!(tiny_limited, tiny);
limited!(big_limited, big);
