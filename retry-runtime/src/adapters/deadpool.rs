//! `deadpool` 0.13: verdicts of a pool that gives no connection.
//!
//! `deadpool-postgres` has this version from 0.14.2 on, `deadpool-redis` from 0.23 on. Also turn on
//! this crate's feature for the pooled client, such as `tokio-postgres-0_7`: a [`PoolError<E>`] has a verdict if `E` has one.
//!
//! # Examples
//!
//! ```
//! # use reattempt_runtime as reattempt;
//! use deadpool::managed::{PoolError, TimeoutType};
//! use reattempt::{Retryable as _, Verdict};
//!
//! let none_free = PoolError::<std::io::Error>::Timeout(TimeoutType::Wait);
//! assert_eq!(none_free.verdict(), Verdict::Refused);
//! ```

use std::time::Duration;

use ::deadpool::managed::{HookError, PoolError};

use crate::classify::{OfClient, Retryable, Verdict};

impl<E: Retryable> OfClient for PoolError<E> {}

/// A call that gets no connection is refused, because nothing ran. If the connection failed with a permanent error,
/// such as a wrong password, the call is permanent.
#[diagnostic::do_not_recommend]
impl<E: Retryable> Retryable for PoolError<E> {
    fn verdict(&self) -> Verdict {
        match self {
            // No connection was free, or none could be made in time.
            Self::Timeout(_) => Verdict::Refused,
            Self::Backend(error) | Self::PostCreateHook(HookError::Backend(error)) => {
                match error.verdict() {
                    Verdict::Permanent => Verdict::Permanent,
                    _ => Verdict::Refused,
                }
            }
            // The hook is a part of this program, and gave only a message.
            Self::PostCreateHook(HookError::Message(_)) => Verdict::Unknown,
            // This program closed the pool, or did not set it up.
            Self::Closed | Self::NoRuntimeSpecified => Verdict::Permanent,
        }
    }

    fn hint(&self) -> Option<Duration> {
        match self {
            Self::Backend(error) | Self::PostCreateHook(HookError::Backend(error)) => error.hint(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn nothing_ran_without_a_connection() {
        let backend = |kind: io::ErrorKind| PoolError::Backend(io::Error::from(kind));
        for (error, verdict) in [
            (backend(io::ErrorKind::ConnectionReset), Verdict::Refused),
            (backend(io::ErrorKind::Other), Verdict::Refused),
            (backend(io::ErrorKind::PermissionDenied), Verdict::Permanent),
            (
                PoolError::PostCreateHook(HookError::Backend(io::ErrorKind::TimedOut.into())),
                Verdict::Refused,
            ),
            (
                PoolError::PostCreateHook(HookError::message("not ours")),
                Verdict::Unknown,
            ),
            (PoolError::Closed, Verdict::Permanent),
            (PoolError::NoRuntimeSpecified, Verdict::Permanent),
        ] {
            assert_eq!(error.verdict(), verdict, "{error:?}");
        }
    }

    #[derive(Debug)]
    struct Busy;

    impl Retryable for Busy {
        fn verdict(&self) -> Verdict {
            Verdict::Throttled
        }

        fn hint(&self) -> Option<Duration> {
            Some(Duration::from_secs(1))
        }
    }

    #[test]
    fn the_hint_of_a_server_that_is_busy_is_kept() {
        let hints = [
            PoolError::Backend(Busy),
            PoolError::PostCreateHook(HookError::Backend(Busy)),
            PoolError::Closed,
        ]
        .map(|error| error.hint());
        assert_eq!(hints, [Busy.hint(), Busy.hint(), None]);
    }
}
