//! How calls are made, the same for every side.

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use peers::Row;
use tokio::runtime::{Builder, Runtime};

use crate::op::{Op, R};

/// The work of a row. It lives as long as the program, so that no side has to share it.
pub(crate) fn op(row: Row) -> &'static Op {
    Box::leak(Box::new(Op::new(row.failures, row.pends)))
}

/// Makes the calls of a row, and checks each result and the number of runs of the body.
pub(crate) fn drive<F: Future<Output = R>>(row: Row, calls: u32, call: impl Fn(&'static Op) -> F) {
    let op = op(row);
    if row.failures == 0 {
        polled(op, calls, call);
    } else {
        waiting(op, row, calls, call);
    }
    assert_eq!(op.calls(), calls * (row.failures + 1), "runs of the body");
}

/// Polls until each call ends: what is counted is the call, and nothing of a scheduler.
fn polled<F: Future<Output = R>>(op: &'static Op, calls: u32, call: impl Fn(&'static Op) -> F) {
    let runtime = runtime(false);
    let _entered = runtime.enter();
    let mut context = Context::from_waker(Waker::noop());
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
}

/// Waits between attempts on a clock that is paused: it goes forward by itself when nothing is left
/// to do, so that no wait takes time.
fn waiting<F: Future<Output = R>>(
    op: &'static Op,
    row: Row,
    calls: u32,
    call: impl Fn(&'static Op) -> F,
) {
    runtime(true).block_on(async {
        for number in 1..=calls {
            let mut future = pin!(call(op));
            let result = opaque(future.as_mut()).await;
            assert_eq!(result.ok(), Some(number * (row.failures + 1)));
        }
    });
}

/// Hides what the future is, so that no side gains by being compiled into the loop that polls it.
fn opaque(future: Pin<&mut dyn Future<Output = R>>) -> Pin<&mut dyn Future<Output = R>> {
    black_box(future)
}

fn runtime(paused: bool) -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .start_paused(paused)
        .build()
        .expect("a runtime")
}
