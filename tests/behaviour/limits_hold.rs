//! Limits that hold in hard cases: beside a greedy neighbour, near the end of a deadline, without timers.

use std::cell::RefCell;
use std::io;
use std::task::Poll;
use std::time::Duration;

use futures::future::{join, poll_fn};
use reattempt::{Attempt, deadline, retry};
use tokio::task::coop;

use crate::script::{RESET, Script, Step, ms, times_of};

/// Spends tokio's cooperative budget at each poll, and is ready again at once. Ends after this many turns.
async fn greedy(mut turns: u32) {
    poll_fn(|context| {
        while coop::has_budget_remaining() {
            if let Poll::Ready(spent) = coop::poll_proceed(context) {
                spent.made_progress();
            }
        }
        turns -= 1;
        context.waker().wake_by_ref();
        if turns == 0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// Moves the paused clock, which does not move by itself while a task is ready.
fn run_the_clock() -> tokio::task::JoinHandle<()> {
    tokio::spawn(async {
        loop {
            tokio::time::advance(ms(1)).await;
        }
    })
}

/// If the call polled its timer only while tokio's cooperative budget lasts, the timer would never fire here.
#[tokio::test(start_paused = true)]
async fn a_wait_ends_on_time_beside_a_neighbour_that_spends_the_cooperative_budget() {
    plays! { call(attempts = 3, base = "100ms", jitter = "none", budget = "none") }
    let clock = run_the_clock();
    let script = Script::new([RESET]);
    // The neighbour is polled first each time.
    let ((), ended) = join(greedy(2000), call(&script)).await;
    ended.unwrap_err();
    clock.abort();
    for (time, expected) in script.times().into_iter().zip([0, 100, 300]) {
        let late = time.saturating_sub(ms(expected));
        assert!(late <= ms(5), "{time:?} in place of {expected} ms");
    }
    assert_eq!(script.calls(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_wait_keeps_the_deadline_beside_a_neighbour_that_spends_the_cooperative_budget() {
    #[retry(
        attempts = "unlimited",
        deadline = "1s",
        base = "300ms",
        backoff = "constant",
        jitter = "none",
        budget = "none"
    )]
    async fn call(script: &Script) -> io::Result<Duration> {
        script.play().await?;
        Ok(script.elapsed())
    }
    let clock = run_the_clock();
    let script = Script::new([RESET]);
    let limited = async {
        let ended = call(&script).await;
        (ended, script.elapsed())
    };
    let ((), (ended, elapsed)) = join(greedy(5000), limited).await;
    clock.abort();
    assert_eq!(ended.unwrap_err().to_string(), "call 4");
    assert!(elapsed <= ms(910), "{elapsed:?}");
}

plays! {
    twice(attempts = 2, deadline = limit, base = wait, backoff = "constant", jitter = "none", budget = "none"),
    limit: Duration, wait: Duration
}

/// At least 50 ms or a tenth of the deadline remain for the attempt after a wait.
#[tokio::test(start_paused = true)]
async fn a_wait_that_leaves_no_time_for_an_attempt_is_not_waited() {
    for (limit, first, wait, calls) in [
        (1000, 0, 950, 2),
        (1000, 0, 951, 1),
        (1000, 0, 999, 1),
        (1000, 900, 50, 2),
        (1000, 900, 51, 1),
        (10_000, 0, 9950, 2),
        (10_000, 0, 9951, 1),
        (500, 0, 450, 2),
        (500, 0, 451, 1),
        (100, 0, 90, 2),
        (100, 0, 91, 1),
        (100, 85, 5, 2),
        (100, 85, 6, 1),
    ] {
        let case = format!("{wait} ms of {limit}, after {first} ms");
        let script = Script::new([Step::FailAfter(ms(first)), RESET]);
        let error = twice(&script, ms(limit), ms(wait)).await.unwrap_err();
        // The call returns the last error at once.
        assert_eq!(error.to_string(), format!("call {calls}"), "{case}");
        let elapsed = if calls == 2 { first + wait } else { first };
        assert_eq!(
            (script.calls(), script.elapsed()),
            (calls, ms(elapsed)),
            "{case}"
        );
    }
}

/// Jitter draws no delay that the call would have to refuse: the range ends before the time for the attempt.
#[tokio::test(start_paused = true)]
async fn jitter_is_drawn_from_what_leaves_time_for_an_attempt() {
    #[retry(
        attempts = "unlimited",
        deadline = limit,
        base = "20s",
        backoff = "constant",
        budget = "none"
    )]
    async fn call(
        script: &Script,
        limit: Duration,
        left: &RefCell<Vec<Duration>>,
    ) -> io::Result<usize> {
        let attempt = Attempt::current().unwrap();
        left.borrow_mut().extend(attempt.remaining());
        script.play().await
    }
    for (limit, least) in [(1000, 50), (100, 10)] {
        for _ in 0..100 {
            let (script, left) = (Script::new([RESET]), RefCell::default());
            let error = call(&script, ms(limit), &left).await.unwrap_err();
            assert_eq!(error.to_string(), format!("call {}", script.calls()));
            assert!(script.calls() > 1, "the first draw fits always");
            // A timer rounds up to the next millisecond.
            let left = left.into_inner();
            assert!(left.iter().all(|left| *left >= ms(least - 1)), "{left:?}");
        }
    }
}

/// The length of an inherited deadline is the time that was left when the call began.
#[tokio::test(start_paused = true)]
async fn an_inherited_deadline_leaves_time_for_an_attempt_too() {
    plays! { inner(attempts = 2, base = wait, backoff = "constant", jitter = "none", budget = "none"), wait: Duration }
    // `gone` has passed when the call begins, and `first` is the time of its first attempt.
    for (limit, gone, first, wait, calls) in [
        (10_000, 0, 0, 9950, 2),
        (10_000, 0, 0, 9951, 1),
        (10_000, 9800, 0, 180, 2),
        (10_000, 9800, 0, 181, 1),
        (400, 200, 100, 80, 2),
        (400, 200, 100, 81, 1),
    ] {
        let script = Script::new([Step::FailAfter(ms(first)), RESET]);
        let ended = deadline::scope(ms(limit), async {
            tokio::time::sleep(ms(gone)).await;
            inner(&script, ms(wait)).await
        })
        .await;
        let error = ended.unwrap_err();
        let case = format!("{wait} ms of {limit}, after {gone} and {first} ms");
        assert_eq!(error.to_string(), format!("call {calls}"), "{case}");
        assert_eq!(script.calls(), calls, "{case}");
    }
}

/// An expression that gives 0 attempts counts as 1.
#[tokio::test(start_paused = true)]
async fn no_attempts_count_as_one() {
    #[retry(attempts = attempts, base = "1ms", budget = "none")]
    async fn call(script: &Script, attempts: u32) -> io::Result<Option<u32>> {
        script.play().await?;
        Ok(Attempt::current().unwrap().attempts())
    }
    assert_eq!(
        times_of(async |script| call(script, 0).await).await.len(),
        1
    );
    let script = Script::new([Step::Succeed]);
    assert_eq!(call(&script, 0).await.unwrap(), Some(1));
    assert_eq!(
        times_of(async |script| call(script, 2).await).await.len(),
        2
    );
}
