//! The counts agree with each other and with the runs of the bodies, wherever a call is dropped.

use std::cell::Cell;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use proptest::prelude::*;
use reattempt::retry;
use tokio::task::yield_now;

use crate::{recorded, run};

/// How often each attempt is pending, and whether it fails.
type Plan = [(u8, bool); 4];

#[retry(
    attempts = 4,
    base = "1ms",
    timeout = "1s",
    on = "io::Error",
    budget = "none",
    cancel = cancelled(cancel),
    before_retry = yield_now_ok(),
    name = "inner"
)]
async fn inner(plan: &Plan, cancel: u8, runs: &Cell<u64>) -> io::Result<()> {
    let attempt = reattempt::Attempt::current().unwrap().number() as usize;
    runs.set(runs.get() + 1);
    let (pending, fails) = plan[attempt - 1];
    for _ in 0..pending {
        yield_now().await;
    }
    if fails {
        Err(io::ErrorKind::ConnectionReset.into())
    } else {
        Ok(())
    }
}

#[retry(attempts = 2, delays = ["0s"], on = "io::Error", budget = "none", name = "outer")]
async fn outer(
    plan: &Plan,
    cancel: u8,
    runs: &Cell<(u64, u64)>,
    calls: &Cell<u64>,
) -> io::Result<()> {
    let (own, within) = runs.get();
    runs.set((own + 1, within));
    calls.set(calls.get() + 1);
    let inside = Cell::new(0);
    let counted = Counted(&inside, runs);
    let result = inner(plan, cancel, counted.0).await;
    drop(counted);
    result
}

/// Adds up the runs of the inner body, however the outer body ends.
struct Counted<'c>(&'c Cell<u64>, &'c Cell<(u64, u64)>);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let (own, within) = self.1.get();
        self.1.set((own, within + self.0.get()));
    }
}

async fn yield_now_ok() -> io::Result<()> {
    yield_now().await;
    Ok(())
}

/// Is pending this many times, and then completes.
async fn cancelled(polls: u8) {
    for _ in 0..polls {
        let mut pending = true;
        std::future::poll_fn(|_| {
            if std::mem::take(&mut pending) {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }
}

/// Polls a call this many times, lets time pass after each poll, and drops it. Returns whether it ended.
fn drop_after(polls: u32, call: impl Future) -> bool {
    run(async {
        let mut call = pin!(call);
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..polls {
            if call.as_mut().poll(&mut context).is_ready() {
                return true;
            }
            tokio::time::advance(Duration::from_millis(300)).await;
        }
        false
    })
}

proptest! {
    #[test]
    fn attempts_are_the_runs_of_the_body_and_outcomes_the_calls(
        plan: [(u8, bool); 4],
        cancel in 0_u8..24,
    ) {
        let plan = plan.map(|(pending, fails)| (pending % 6, fails));
        for polls in 0.. {
            let (runs, calls) = (Cell::new((0, 0)), Cell::new(0));
            let (ended, recorded) =
                recorded(|| drop_after(polls, outer(&plan, cancel, &runs, &calls)));
            let (own, within) = runs.get();
            let sum = |name: &str| recorded.sum(name);
            prop_assert_eq!(sum("reattempt_attempts_total{function=outer"), own);
            prop_assert_eq!(sum("reattempt_attempts_total{function=inner"), within);
            prop_assert_eq!(sum("reattempt_calls_total{function=outer"), u64::from(polls > 0));
            prop_assert_eq!(sum("reattempt_calls_total{function=inner"), calls.get());
            let ends = recorded.samples("reattempt_call_seconds{function=inner}").len() as u64;
            prop_assert_eq!(ends, calls.get());
            if ended {
                break;
            }
        }
    }
}
