//! An operation that plays a list of steps, and records the times of its calls.

use std::error::Error as _;
use std::io;
use std::sync::{LazyLock, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use reattempt::{Outcome, Stopped};
use tokio::time::{Instant, sleep};
use tracing::Dispatch;
use tracing::subscriber::NoSubscriber;

/// What one call of the operation does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Succeed,
    Fail(io::ErrorKind),
    /// Is pending for this time, then succeeds.
    SucceedAfter(Duration),
    /// Is pending for this time, then fails with a retryable error.
    FailAfter(Duration),
    /// Is pending forever.
    Hang,
}

/// A retryable error.
pub(crate) const RESET: Step = Step::Fail(io::ErrorKind::ConnectionReset);

/// The same as a value.
pub(crate) fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The `Stopped` inside an `io::Error` that the call itself made.
pub(crate) fn stopped(error: &io::Error) -> &Stopped {
    error
        .get_ref()
        .and_then(|inner| inner.downcast_ref())
        .unwrap_or_else(|| panic!("no `Stopped` inside: {error}"))
}

/// Call this before you set a subscriber. With a single subscriber, `tracing` asks only the thread that first
/// reaches an event whether it listens, and uses that answer for all threads.
pub(crate) fn listen_on_all_threads() {
    static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));
    LazyLock::force(&SECOND);
}

/// How a call was stopped: the outcome, the number of attempts that began, and the error of the last failed attempt.
pub(crate) fn ending(error: &io::Error) -> (Outcome, u32, Option<String>) {
    let stopped = stopped(error);
    let cause = stopped.source().map(ToString::to_string);
    (stopped.outcome(), stopped.attempts(), cause)
}

/// Plays the last step again for every call after it.
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

    /// The time of each call, since the script was made.
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
                // This is longer than any limit in these tests. If no limit holds, the test still ends.
                sleep(Duration::from_secs(365 * 24 * 60 * 60)).await;
                panic!("nothing cut it")
            }
        }
    }
}

/// The times of the attempts of a call, if all of them fail with a reset.
pub(crate) async fn times_of<T, E>(
    call: impl AsyncFnOnce(&Script) -> Result<T, E>,
) -> Vec<Duration> {
    let script = Script::new([RESET]);
    assert!(call(&script).await.is_err());
    script.times()
}

/// How many attempts a call makes, if each fails with an error of this kind.
pub(crate) async fn calls(
    call: impl AsyncFn(&Script) -> io::Result<usize>,
    kind: io::ErrorKind,
) -> usize {
    let script = Script::new([Step::Fail(kind)]);
    call(&script).await.unwrap_err();
    script.calls()
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
