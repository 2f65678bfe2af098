//! An operation that plays a list of outcomes and records when it was called.

use std::error::Error as _;
use std::io;
use std::sync::{LazyLock, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use reattempt::{Outcome, Stopped};
use tokio::time::{Instant, sleep};
use tracing::Dispatch;
use tracing::subscriber::NoSubscriber;

/// What one call does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Succeed,
    Fail(io::ErrorKind),
    /// Is pending so long, then succeeds.
    SucceedAfter(Duration),
    /// Is pending for this time, then fails with a retryable error.
    FailAfter(Duration),
    /// Is pending for good.
    Hang,
}

/// Retryable.
pub(crate) const RESET: Step = Step::Fail(io::ErrorKind::ConnectionReset);

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// What an `io::Error` that the call itself made has inside.
pub(crate) fn stopped(error: &io::Error) -> &Stopped {
    error
        .get_ref()
        .and_then(|inner| inner.downcast_ref())
        .unwrap_or_else(|| panic!("no `Stopped` inside: {error}"))
}

/// Has to come before any subscriber. With one alone `tracing` asks the thread that reaches an event first
/// whether somebody listens, and goes by its answer on every thread.
pub(crate) fn listen_on_all_threads() {
    static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));
    LazyLock::force(&SECOND);
}

/// How a call was stopped: the outcome, how many attempts had begun, and the error of the last that failed.
pub(crate) fn ending(error: &io::Error) -> (Outcome, u32, Option<String>) {
    let stopped = stopped(error);
    let cause = stopped.source().map(ToString::to_string);
    (stopped.outcome(), stopped.attempts(), cause)
}

/// The last step is played for every call after it.
#[derive(Debug)]
pub(crate) struct Script {
    steps: Vec<Step>,
    began: Instant,
    calls: Mutex<Vec<Duration>>,
}

impl Script {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            began: Instant::now(),
            calls: Mutex::new(Vec::new()),
        }
    }

    /// When each call was made, since the script was made.
    pub(crate) fn times(&self) -> Vec<Duration> {
        self.calls.lock().unwrap().clone()
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.lock().unwrap().len()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) async fn play(&self) -> io::Result<usize> {
        let call = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(self.began.elapsed());
            assert!(calls.len() < 100_000, "no end of attempts");
            calls.len()
        };
        match self.steps[(call - 1).min(self.steps.len() - 1)] {
            Step::Succeed => Ok(call),
            Step::Fail(kind) => Err(io::Error::new(kind, format!("call {call}"))),
            Step::SucceedAfter(time) => {
                sleep(time).await;
                Ok(call)
            }
            Step::FailAfter(time) => {
                sleep(time).await;
                Err(io::Error::new(
                    io::ErrorKind::ConnectionReset,
                    format!("call {call}"),
                ))
            }
            Step::Hang => {
                // Longer than any limit here. If no limit holds, the test still ends.
                sleep(Duration::from_secs(365 * 24 * 60 * 60)).await;
                panic!("nothing cut it")
            }
        }
    }
}

/// Runs a future that needs no other task.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = Context::from_waker(std::task::Waker::noop());
    for _ in 0..1000 {
        if let Poll::Ready(ended) = future.as_mut().poll(&mut context) {
            return ended;
        }
    }
    panic!("still pending")
}
