//! `tower`: its retry service, and its timeout service around an attempt and around the whole call.

use std::future::Future;
use std::io;
use std::sync::LazyLock;

use ::tower::retry::backoff::{
    Backoff as _, ExponentialBackoff, ExponentialBackoffMaker, MakeBackoff as _,
};
use ::tower::retry::{Policy, Retry};
use ::tower::timeout::Timeout;
use ::tower::util::rng::HasherRng;
use ::tower::{BoxError, ServiceExt as _, service_fn};
use tokio::time::Sleep;

use crate::op::{Op, R, big, tiny};
use crate::policy::{DEADLINE, DELAY, RETRIES, TIMEOUT, is_temporary};

/// Each call has a copy.
#[derive(Clone)]
struct Attempts {
    left: u32,
    backoff: ExponentialBackoff,
}

/// `tower` adds jitter to the delay, so that half of the ceiling gives delays up to the ceiling.
static ATTEMPTS: LazyLock<Attempts> = LazyLock::new(|| {
    let mut maker = ExponentialBackoffMaker::new(DELAY / 2, DELAY, 0.99, HasherRng::default())
        .expect("a valid policy");
    Attempts {
        left: RETRIES,
        backoff: maker.make_backoff(),
    }
});

/// An error with which a service may fail.
trait Failure {
    fn is_temporary(&self) -> bool;
}

impl Failure for io::Error {
    fn is_temporary(&self) -> bool {
        is_temporary(self)
    }
}

/// The type into which the timeout service turns every error, its own included.
impl Failure for BoxError {
    fn is_temporary(&self) -> bool {
        self.downcast_ref().is_none_or(is_temporary)
    }
}

impl<E: Failure> Policy<&'static Op, u32, E> for Attempts {
    type Future = Sleep;

    fn retry(&mut self, _: &mut &'static Op, result: &mut Result<u32, E>) -> Option<Sleep> {
        match result {
            Err(error) if self.left > 0 && error.is_temporary() => {
                self.left -= 1;
                Some(self.backoff.next_backoff())
            }
            _ => None,
        }
    }

    fn clone_request(&mut self, op: &&'static Op) -> Option<&'static Op> {
        Some(*op)
    }
}

macro_rules! free {
    ($name:ident, $body:ident) => {
        pub(crate) fn $name(op: &'static Op) -> impl Future<Output = R> {
            let service = service_fn(|op: &'static Op| async { $body!(op) });
            Retry::new(ATTEMPTS.clone(), service).oneshot(op)
        }
    };
}

macro_rules! limited {
    ($name:ident, $body:ident) => {
        pub(crate) async fn $name(op: &'static Op) -> R {
            let service = service_fn(|op: &'static Op| async { $body!(op) });
            let service = Retry::new(ATTEMPTS.clone(), Timeout::new(service, TIMEOUT));
            match Timeout::new(service, DEADLINE).oneshot(op).await {
                Ok(value) => Ok(value),
                Err(error) => Err(match error.downcast() {
                    Ok(error) => *error,
                    Err(_) => io::ErrorKind::TimedOut.into(),
                }),
            }
        }
    };
}

free!(tiny_free, tiny);
free!(big_free, big);
limited!(tiny_limited, tiny);
limited!(big_limited, big);
