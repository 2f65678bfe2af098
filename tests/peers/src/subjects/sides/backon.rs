//! `backon`. The timeout is that of tokio, around the body. The deadline bounds the sum of the waits.

use std::io;

use ::backon::{ExponentialBuilder, Retryable as _};
use tokio::time::timeout;

use crate::op::{Op, R, big, tiny};
use crate::policy::{DEADLINE, DELAY, RETRIES, TIMEOUT, is_temporary};

/// `backon` adds jitter to the delay, so that half of the ceiling gives delays up to the ceiling.
pub(crate) fn free() -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_min_delay(DELAY / 2)
        .with_max_delay(DELAY / 2)
        .with_max_times(RETRIES as usize)
        .with_jitter()
}

pub(crate) fn limited() -> ExponentialBuilder {
    free().with_total_delay(Some(DEADLINE))
}

macro_rules! free {
    ($name:ident, $body:ident) => {
        pub(crate) async fn $name(op: &'static Op) -> R {
            (|| async { $body!(op) })
                .retry(free())
                .when(is_temporary)
                .await
        }
    };
}

macro_rules! limited {
    ($name:ident, $body:ident) => {
        pub(crate) async fn $name(op: &'static Op) -> R {
            (|| async {
                match timeout(TIMEOUT, async { $body!(op) }).await {
                    Ok(result) => result,
                    Err(_) => Err(io::ErrorKind::TimedOut.into()),
                }
            })
            .retry(limited())
            .when(is_temporary)
            .await
        }
    };
}

free!(tiny_free, tiny);
free!(big_free, big);
limited!(tiny_limited, tiny);
limited!(big_limited, big);
