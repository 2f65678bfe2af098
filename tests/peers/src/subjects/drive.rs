//! Makes calls in the same way for every side.

use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use peers::Row;
use tokio::runtime::{Builder, Runtime};

use crate::op::{Op, R};
use crate::policy::DELAY;

/// The work of a row. It lives as long as the program, so that no side has to share it.
pub(crate) fn op(row: Row) -> &'static Op {
    Box::leak(Box::new(Op::new(row.failures, row.pends)))
}

/// Makes calls, and gives the time that they took. Checks the result of each call, how often the body ran, and
/// that no wait was left out.
pub(crate) fn drive<F: Future<Output = R>>(
    row: Row,
    calls: u32,
    call: impl Fn(&'static Op) -> F,
) -> Duration {
    let op = op(row);
    let time = if row.failures == 0 {
        polled(op, calls, call)
    } else {
        waiting(op, row.failures, calls, call)
    };
    assert_eq!(op.calls(), calls * (row.failures + 1), "runs of the body");
    time
}

/// Polls each call until it ends, so that the measurement has no part of a scheduler.
fn polled<F: Future<Output = R>>(
    op: &'static Op,
    calls: u32,
    call: impl Fn(&'static Op) -> F,
) -> Duration {
    let runtime = runtime(false);
    let _entered = runtime.enter();
    let mut context = Context::from_waker(Waker::noop());
    let start = Instant::now();
    for number in 1..=calls {
        let mut future = pin!(call(op));
        let mut future = opaque(future.as_mut());
        let result = loop {
            if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                break result;
            }
        };
        assert_eq!(result.ok(), Some(number));
    }
    start.elapsed()
}

/// Waits between attempts on a paused clock, which advances by itself when nothing is left to do. So no wait takes
/// real time.
fn waiting<F: Future<Output = R>>(
    op: &'static Op,
    failures: u32,
    calls: u32,
    call: impl Fn(&'static Op) -> F,
) -> Duration {
    runtime(true).block_on(async {
        let start = Instant::now();
        let virtual_start = tokio::time::Instant::now();
        for number in 1..=calls {
            let mut future = pin!(call(op));
            let result = opaque(future.as_mut()).await;
            assert_eq!(result.ok(), Some(number * (failures + 1)));
        }
        let waits = DELAY * calls * failures;
        let waited = virtual_start.elapsed();
        // A delay of almost zero takes no tick. Jitter draws such a delay once in many thousand times.
        assert!(
            waited <= waits && waited + DELAY >= waits * 99 / 100,
            "{waited:?}"
        );
        start.elapsed()
    })
}

/// Hides the type of the future, so that no side gains from inlining into the loop that polls it.
fn opaque(future: Pin<&mut dyn Future<Output = R>>) -> Pin<&mut dyn Future<Output = R>> {
    black_box(future)
}

fn runtime(paused: bool) -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .start_paused(paused)
        .build()
        .expect("a runtime")
}
