//! The work that every side retries, and the two bodies around it.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll};

use tokio::task::yield_now;

pub(crate) type R = io::Result<u32>;

/// Counts its calls, fails a given number of times before each success, and is pending once in each call or never.
pub(crate) struct Op {
    calls: AtomicU32,
    failures: u32,
    pends: bool,
}

impl Op {
    pub(crate) const fn new(failures: u32, pends: bool) -> Self {
        Self {
            calls: AtomicU32::new(0),
            failures,
            pends,
        }
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls.load(Relaxed)
    }

    /// Returns the number of its calls, or an error that every side retries.
    pub(crate) fn work(&'static self) -> Work {
        Work {
            op: self,
            polled: false,
        }
    }
}

/// One call of the work. A future by hand adds almost nothing to the measurement.
pub(crate) struct Work {
    op: &'static Op,
    polled: bool,
}

impl Future for Work {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R> {
        let op = self.op;
        if op.pends && !std::mem::replace(&mut self.polled, true) {
            // The first poll asks the scheduler for another poll, and keeps no state.
            return pin!(yield_now()).poll(context).map(|()| Ok(0));
        }
        let calls = op.calls.load(Relaxed) + 1;
        op.calls.store(calls, Relaxed);
        Poll::Ready(if calls.is_multiple_of(op.failures + 1) {
            Ok(calls)
        } else {
            Err(io::ErrorKind::ConnectionReset.into())
        })
    }
}

/// A body of a few bytes.
macro_rules! tiny {
    ($op:expr) => {
        $op.work().await
    };
}

/// A body with 1 KiB that lives while it waits.
macro_rules! big {
    ($op:expr) => {{
        let bytes = ::std::hint::black_box([0_u8; 1024]);
        let result = $op.work().await;
        ::std::hint::black_box(&bytes);
        result
    }};
}

pub(crate) use {big, tiny};
