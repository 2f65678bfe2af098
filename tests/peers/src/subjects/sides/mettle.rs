//! `mettle`. It checks the deadline between attempts.

use std::io;

use ::mettle::{Backoff, ExponentialBackoff, ExponentialBackoffConfig, RetryError, retry};

use crate::op::{Op, R, big, tiny};
use crate::policy::{DEADLINE, DELAY, RETRIES, TIMEOUT, is_temporary};

fn backoff() -> impl Backoff {
    let config = ExponentialBackoffConfig {
        base: DELAY,
        max_delay: DELAY,
        max_retries: RETRIES,
        ..ExponentialBackoffConfig::default()
    };
    ExponentialBackoff::new(config)
        .expect("a valid policy")
        .jittered()
}

macro_rules! free {
    ($name:ident, $body:ident) => {
        pub(crate) async fn $name(op: &'static Op) -> R {
            retry(|| async { $body!(op) })
                .backoff(backoff())
                .when(is_temporary)
                .await
                .map_err(RetryError::into_error)
        }
    };
}

macro_rules! limited {
    ($name:ident, $body:ident) => {
        pub(crate) async fn $name(op: &'static Op) -> R {
            retry(|| async { $body!(op) })
                .backoff(backoff())
                .when(is_temporary)
                .attempt_timeout(TIMEOUT, || io::ErrorKind::TimedOut.into())
                .max_elapsed(DEADLINE)
                .await
                .map_err(RetryError::into_error)
        }
    };
}

free!(tiny_free, tiny);
free!(big_free, big);
limited!(tiny_limited, tiny);
limited!(big_limited, big);
