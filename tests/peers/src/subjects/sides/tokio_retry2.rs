//! `tokio-retry2`. The timeout is that of tokio, around the body. It checks the deadline between attempts. Full
//! jitter is a closure that uses the generator of the other sides, which is faster than its own.

use std::io;
use std::time::Duration;

use ::tokio_retry2::strategy::{ExponentialFactorBackoff, MaxInterval as _};
use ::tokio_retry2::{Retry, RetryError};
use tokio::time::timeout;

use crate::op::{Op, R, big, tiny};
use crate::policy::{DEADLINE, DELAY, DELAY_MILLIS, RETRIES, TIMEOUT, is_temporary};

fn strategy() -> impl Iterator<Item = Duration> {
    ExponentialFactorBackoff::from_millis(DELAY_MILLIS, 2.0)
        .max_delay(DELAY)
        .map(|delay| delay.mul_f64(fastrand::f64()))
        .take(RETRIES as usize)
}

/// The action marks each error as transient or permanent.
fn judged(result: R) -> Result<u32, RetryError<io::Error>> {
    result.map_err(|error| {
        if is_temporary(&error) {
            RetryError::transient(error)
        } else {
            RetryError::permanent(error)
        }
    })
}

macro_rules! free {
    ($name:ident, $body:ident) => {
        pub(crate) async fn $name(op: &'static Op) -> R {
            Retry::spawn(strategy(), || async { judged(async { $body!(op) }.await) }).await
        }
    };
}

macro_rules! limited {
    ($name:ident, $body:ident) => {
        pub(crate) async fn $name(op: &'static Op) -> R {
            Retry::spawn(strategy().max_duration(DEADLINE), || async {
                judged(match timeout(TIMEOUT, async { $body!(op) }).await {
                    Ok(result) => result,
                    Err(_) => Err(io::ErrorKind::TimedOut.into()),
                })
            })
            .await
        }
    };
}

free!(tiny_free, tiny);
free!(big_free, big);
limited!(tiny_limited, tiny);
limited!(big_limited, big);
