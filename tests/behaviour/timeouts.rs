//! The limit of one attempt.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt as _;
use reattempt::{Outcome, Policy, retry};
use tokio::sync::Mutex;

use crate::script::{Script, Step, ms, stopped};

plays!(limited(attempts = 3, timeout = "1.5s", jitter = "none"));

#[tokio::test(start_paused = true)]
async fn a_hanging_attempt_is_cut_and_retried() {
    let script = Script::new([Step::Hang, Step::Succeed]);
    assert_eq!(limited(&script).await.unwrap(), 2);
    assert_eq!(script.times(), [ms(0), ms(1600)]);
}

#[tokio::test(start_paused = true)]
async fn the_last_timeout_reaches_the_caller_as_stopped() {
    let script = Script::new([Step::Hang]);
    let error = limited(&script).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    let stopped = stopped(&error);
    assert_eq!(stopped.outcome(), Outcome::Timeout);
    assert_eq!((stopped.attempts(), stopped.limit()), (3, Some(ms(1500))));
    assert_eq!(stopped.elapsed(), ms(3 * 1500 + 100 + 200));
    assert_eq!(
        stopped.to_string(),
        "timed out after 1.5s (3 attempts, 4.8s)"
    );
}

#[tokio::test(start_paused = true)]
async fn each_attempt_has_the_whole_timeout() {
    let script = Script::new([Step::FailAfter(ms(1400)), Step::SucceedAfter(ms(1400))]);
    assert_eq!(limited(&script).await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_result_at_the_very_instant_of_the_limit_wins() {
    let script = Script::new([Step::SucceedAfter(ms(1500))]);
    assert_eq!(limited(&script).await.unwrap(), 1);
    assert_eq!(script.elapsed(), ms(1500));
}

/// If the call kept a cut attempt alive, the attempt would hold its lock against the next attempt.
#[tokio::test(start_paused = true)]
async fn timed_out_attempt_is_dropped_before_the_wait() {
    #[retry(
        attempts = 2,
        timeout = "1s",
        base = "5s",
        backoff = "constant",
        jitter = "none"
    )]
    async fn hold(lock: &Mutex<u32>) -> io::Result<u32> {
        let mut held = lock.lock().await;
        *held += 1;
        if *held == 1 {
            std::future::pending::<()>().await;
        }
        Ok(*held)
    }
    let lock = Arc::new(Mutex::new(0));
    let call = tokio::spawn({
        let lock = lock.clone();
        async move { hold(&lock).await }
    });
    // In the middle of the wait the lock is free.
    tokio::time::sleep(ms(3000)).await;
    assert_eq!(
        *lock
            .try_lock()
            .expect("the attempt that was cut still holds the lock"),
        1
    );
    assert_eq!(call.await.unwrap().unwrap(), 2);
}

/// A body that is pending and spends tokio's cooperative budget at each poll.
#[tokio::test(start_paused = true)]
async fn a_body_that_spends_the_cooperative_budget_is_cut() {
    /// It is pending only if tokio's cooperative budget is empty. Then a timer that is due is pending too.
    #[retry(attempts = 1, timeout = "100ms")]
    async fn busy(over: &AtomicBool) -> io::Result<()> {
        while !over.load(Ordering::Relaxed) {
            tokio::task::consume_budget().await;
        }
        Ok(())
    }
    let over = Arc::new(AtomicBool::new(false));
    // The paused clock does not move by itself while a task is ready.
    let clock = tokio::spawn({
        let over = Arc::clone(&over);
        async move {
            for _ in 0..1000 {
                tokio::time::advance(ms(1)).await;
            }
            over.store(true, Ordering::Relaxed);
        }
    });
    let error = busy(&over).await.unwrap_err();
    assert_eq!(stopped(&error).outcome(), Outcome::Timeout);
    clock.abort();
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_zero_polls_once() {
    plays! { at_once(attempts = 2, timeout = Duration::ZERO, jitter = "none") }
    let ready = Script::new([Step::Succeed]);
    assert_eq!(at_once(&ready).await.unwrap(), 1);
    let pending = Script::new([Step::Hang]);
    at_once(&pending).await.unwrap_err();
    assert_eq!(pending.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_limit_above_a_day_lasts_as_long_as_it_says() {
    const DAY: u64 = 24 * 60 * 60 * 1000;
    plays!(days(attempts = 1, timeout = limit), limit: Duration);
    let script = Script::new([Step::Hang]);
    let call = days(&script, ms(3 * DAY + 5));
    let ended = tokio::time::timeout(ms(30 * DAY), call).await;
    let error = ended.expect("it is cut").unwrap_err();
    assert_eq!(stopped(&error).outcome(), Outcome::Timeout);
    assert_eq!(script.elapsed(), ms(3 * DAY + 5));
}

#[tokio::test(start_paused = true)]
async fn a_limit_may_be_an_option() {
    const FIVE: Option<Duration> = Some(ms(5));
    const UNSET: Option<Duration> = None;
    plays!(optional(attempts = 1, timeout = limits[0], deadline = limits[1]), limits: [Option<Duration>; 2]);
    plays!(constant(attempts = 1, timeout = UNSET, deadline = FIVE));
    plays!(endless(attempts = 1, timeout = UNSET, deadline = UNSET));
    let script = Script::new([Step::Hang]);
    for (call, ended) in [
        (
            optional(&script, [FIVE, None]).boxed_local(),
            Some(Outcome::Timeout),
        ),
        (
            optional(&script, [None, FIVE]).boxed_local(),
            Some(Outcome::Deadline),
        ),
        (optional(&script, [None, None]).boxed_local(), None),
        (constant(&script).boxed_local(), Some(Outcome::Deadline)),
        (endless(&script).boxed_local(), None),
    ] {
        let outcome = match tokio::time::timeout(ms(1_000), call).await {
            Ok(cut) => Some(stopped(&cut.unwrap_err()).outcome()),
            Err(_) => None,
        };
        assert_eq!(outcome, ended);
    }
}

/// A timer in the far future delays the other timers of some versions of tokio.
#[tokio::test(start_paused = true)]
async fn no_timer_is_armed_for_longer_than_a_day() {
    const DAY: u64 = 24 * 60 * 60 * 1000;
    #[retry(attempts = 2, timeout = long, base = long, max_delay = long, jitter = "none", budget = "none")]
    async fn call(script: &Script, long: Duration) -> io::Result<usize> {
        script.play().await
    }
    // An attempt of three days that is cut, and a wait of three days. Timers are all that wakes the call.
    let script = Script::new([Step::Hang, Step::Succeed]);
    let mut call = std::pin::pin!(call(&script, ms(3 * DAY)));
    let mut polls = Vec::new();
    let ended = std::future::poll_fn(|waker| {
        polls.push(script.elapsed());
        call.as_mut().poll(waker)
    });
    assert_eq!(ended.await.unwrap(), 2);
    assert_eq!(script.elapsed(), ms(6 * DAY));
    let days = polls.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    assert!(days.max() <= Some(ms(DAY)), "{polls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_policy_with_one_limit_cuts_an_attempt() {
    const TIMEOUT: Policy = Policy::new().with_attempts(1).with_timeout(ms(100));
    const DEADLINE: Policy = Policy::new().with_attempts(1).with_deadline(ms(100));
    plays!(timed(policy = TIMEOUT));
    plays!(ended(policy = DEADLINE));
    let script = Script::new([Step::Hang]);
    let cut = tokio::time::timeout(ms(5000), timed(&script)).await;
    let error = cut.expect("it is cut").unwrap_err();
    assert_eq!(stopped(&error).outcome(), Outcome::Timeout);
    let cut = tokio::time::timeout(ms(5000), ended(&script)).await;
    let error = cut.expect("it is cut").unwrap_err();
    assert_eq!(stopped(&error).outcome(), Outcome::Deadline);
}

/// The body moves the clock while it is polled, as a body does that computes.
#[tokio::test(start_paused = true)]
async fn limits_count_from_the_beginning_also_of_a_body_that_computes() {
    #[retry(attempts = 2, timeout = "1s", jitter = "none")]
    async fn limited(computes: Duration, runs: &Cell<u32>) -> io::Result<()> {
        runs.set(runs.get() + 1);
        tokio::time::advance(computes).await;
        Ok(())
    }
    #[retry(deadline = "1s")]
    async fn bounded(computes: Duration, runs: &Cell<u32>) -> io::Result<()> {
        runs.set(runs.get() + 1);
        tokio::time::advance(computes).await;
        Ok(())
    }
    let runs = Cell::new(0);
    limited(ms(999), &runs).await.unwrap();
    bounded(ms(999), &runs).await.unwrap();
    assert_eq!(runs.replace(0), 2);
    let error = limited(ms(1000), &runs).await.unwrap_err();
    assert_eq!(
        (stopped(&error).outcome(), runs.replace(0)),
        (Outcome::Timeout, 2)
    );
    let error = bounded(ms(1000), &runs).await.unwrap_err();
    assert_eq!(
        (stopped(&error).outcome(), runs.get()),
        (Outcome::Deadline, 1)
    );
}

/// Two tasks pass the answer on, each in a turn of its own, as the task of a connection does. The clock jumps over all limits, as
/// it does after the process stood still.
#[tokio::test(start_paused = true)]
async fn an_answer_that_came_while_the_thread_stood_still_counts() {
    async fn answer(turns: u32, sent: &Cell<u32>) -> io::Result<()> {
        sent.set(sent.get() + 1);
        let (answer, arrives) = tokio::sync::oneshot::channel();
        tokio::spawn(async move {
            tokio::time::sleep(ms(200)).await;
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            answer.send(()).ok();
        });
        arrives.await.map_err(io::Error::other)
    }
    #[retry(attempts = 2, timeout = "1s")]
    async fn limited(turns: u32, sent: &Cell<u32>) -> io::Result<()> {
        answer(turns, sent).await
    }
    #[retry(deadline = "1s")]
    async fn dated(turns: u32, sent: &Cell<u32>) -> io::Result<()> {
        answer(turns, sent).await
    }
    #[retry(attempts = 2, timeout = "1s", hedge = "500ms")]
    async fn hedged(turns: u32, sent: &Cell<u32>) -> io::Result<()> {
        answer(turns, sent).await
    }
    macro_rules! stalls {
        ($call:ident, $turns:expr) => {{
            let sent = Cell::new(0);
            let mut call = std::pin::pin!($call($turns, &sent));
            assert!(futures::poll!(&mut call).is_pending());
            tokio::task::yield_now().await;
            tokio::time::advance(ms(2000)).await;
            (call.await.is_ok(), sent.get())
        }};
    }
    assert_eq!(stalls!(limited, 1), (true, 1));
    assert_eq!(stalls!(dated, 1), (true, 1));
    assert_eq!(stalls!(hedged, 1), (true, 1));
    assert_eq!(stalls!(limited, 9), (true, 2), "it is not there yet");
    assert_eq!(stalls!(dated, 9), (false, 1), "it is not there yet");

    // Each attempt has last polls of its own.
    #[retry(attempts = 2, timeout = "1s", delays = ["1ms"])]
    async fn twice(turns: &Cell<u32>, sent: &Cell<u32>) -> io::Result<()> {
        answer(turns.replace(1), sent).await
    }
    let (turns, sent) = (Cell::new(30), Cell::new(0));
    let mut call = std::pin::pin!(twice(&turns, &sent));
    let ended = loop {
        match futures::poll!(&mut call) {
            Poll::Ready(ended) => break ended,
            Poll::Pending => tokio::time::advance(ms(2000)).await,
        }
    };
    assert_eq!((ended.is_ok(), sent.get()), (true, 2));
}
