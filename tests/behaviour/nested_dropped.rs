//! Inner calls that do not end in the attempt in which they began: they are dropped, cut, or kept for the next
//! attempt. Their retries count as failed.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, panic_any};
use std::task::Poll;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, try_join};
use reattempt::{Attempt, retry};
use tokio::time::{sleep, timeout};

use crate::script::{RESET, Script, Step, ms};

/// An error that is not retryable.
const MISSING: Step = Step::Fail(ErrorKind::NotFound);

fn reset() -> io::Error {
    ErrorKind::ConnectionReset.into()
}

#[retry(attempts = 6, base = "1ms", budget = "none")]
async fn fetch(host: &Script) -> io::Result<usize> {
    host.play().await
}

/// Makes two attempts at `body`.
#[retry(attempts = 2, base = "1ms", budget = "none")]
async fn twice(body: impl AsyncFn() -> io::Result<usize>) -> io::Result<usize> {
    body().await
}

/// A host that hangs after two failed retries, and fails from then on.
fn stuck() -> Script {
    Script::new([RESET, RESET, Step::Hang, RESET])
}

/// The calls of a host that is [`stuck`] in the first attempt of the outer call, and dead in the second.
const TWO_RETRIES_FEWER: usize = 3 + (6 - 2);

#[tokio::test(start_paused = true)]
async fn a_call_that_select_drops_has_failed_retries() {
    let host = stuck();
    twice(async || {
        tokio::select! {
            ended = fetch(&host) => ended,
            () = sleep(ms(50)) => Err(reset()),
        }
    })
    .await
    .unwrap_err();
    assert_eq!(host.calls(), TWO_RETRIES_FEWER);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_its_sibling_ends_has_failed_retries() {
    let (host, other) = (stuck(), Script::new([Step::FailAfter(ms(50))]));
    twice(async || {
        let both = try_join(fetch(&host), other.play()).await;
        both.map(|(call, _)| call)
    })
    .await
    .unwrap_err();
    assert_eq!(host.calls(), TWO_RETRIES_FEWER);
}

/// A call that outlives the attempt in which it began.
type Kept<'a> = RefCell<Option<LocalBoxFuture<'a, io::Result<usize>>>>;

/// Polls the kept call for 50 ms, or until it ends.
async fn go_on(kept: &Kept<'_>) -> io::Result<usize> {
    let mut call = kept.take().unwrap();
    match timeout(ms(50), &mut call).await {
        Ok(ended) => ended,
        Err(_) => {
            kept.replace(Some(call));
            Err(reset())
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_goes_on_in_the_next_attempt_has_as_many_attempts_as_it_began_with() {
    #[retry(attempts = 6, base = "1ms", budget = "none")]
    async fn counted(host: &Script, said: &RefCell<Vec<Option<u32>>>) -> io::Result<usize> {
        let attempt = Attempt::current().unwrap();
        said.borrow_mut().push(attempt.attempts());
        host.play().await
    }
    let (host, said) = (
        Script::new([RESET, RESET, Step::FailAfter(ms(70)), RESET]),
        RefCell::default(),
    );
    let kept = Kept::new(Some(Box::pin(counted(&host, &said))));
    twice(async || go_on(&kept).await).await.unwrap_err();
    assert!(kept.take().is_none(), "the kept call has ended");
    assert_eq!((host.calls(), said.take()), (6, vec![Some(6); 6]));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_goes_on_in_the_next_attempt_is_charged_once() {
    #[retry(attempts = 3, base = "1ms", budget = "none", when = |_| true)]
    async fn thrice(kept: &Kept<'_>, other: &Script) -> io::Result<usize> {
        if kept.borrow().is_some() {
            return go_on(kept).await;
        }
        fetch(other).await
    }
    // The call makes two retries in the first attempt. It makes one in the second, and then fails for good.
    let host = Script::new([RESET, RESET, Step::FailAfter(ms(70)), MISSING]);
    let other = Script::new([RESET]);
    let kept = Kept::new(Some(Box::pin(fetch(&host))));
    thrice(&kept, &other).await.unwrap_err();
    assert_eq!((host.calls(), other.calls()), (4, 6 - 3));
}

#[tokio::test(start_paused = true)]
async fn another_call_has_fewer_retries_while_one_from_the_attempt_before_goes_on() {
    let host = Script::new([RESET, RESET, Step::FailAfter(ms(70)), RESET]);
    let other = Script::new([RESET]);
    let kept = Kept::new(Some(Box::pin(fetch(&host))));
    let first = Cell::new(true);
    twice(async || {
        if first.take() {
            return go_on(&kept).await;
        }
        let _ = fetch(&other).await;
        go_on(&kept).await
    })
    .await
    .unwrap_err();
    assert_eq!((host.calls(), other.calls()), (6, 6 - 2));
}

#[tokio::test(start_paused = true)]
async fn unlimited_attempts_inside_stay_unlimited() {
    // The outer call remembers these retries for 20 s, which is longer than its timeout.
    #[retry(
        attempts = "unlimited",
        base = "1ms",
        backoff = "constant",
        budget = "none"
    )]
    async fn for_ever(host: &Script, said: &Cell<Option<u32>>) -> io::Result<usize> {
        said.set(Attempt::current().unwrap().attempts());
        host.play().await
    }
    #[retry(attempts = 3, base = "1ms", budget = "none", timeout = "10s")]
    async fn around(host: &Script, said: &Cell<Option<u32>>) -> io::Result<usize> {
        for_ever(host, said).await
    }
    let said = Cell::new(Some(0));
    let steps = std::iter::repeat_n(RESET, 499).chain([Step::Succeed]);
    let host = Script::new(steps);
    assert_eq!(around(&host, &said).await.unwrap(), 500);

    // The call is cut after two hundred failed retries. Then it needs fifty more.
    let steps = std::iter::repeat_n(RESET, 200)
        .chain([Step::Hang])
        .chain(std::iter::repeat_n(RESET, 50))
        .chain([Step::Succeed]);
    let host = Script::new(steps);
    assert_eq!(around(&host, &said).await.unwrap(), 252);
    assert_eq!(said.get(), None);
}

/// The calls of the innermost body, by attempt of the outermost call.
type Calls = RefCell<Vec<u32>>;

fn fails(calls: &Calls) -> io::Result<()> {
    *calls.borrow_mut().last_mut().unwrap() += 1;
    Err(reset())
}

#[retry(attempts = most, base = "1ms", budget = "none")]
async fn inner(most: u32, calls: &Calls) -> io::Result<()> {
    fails(calls)
}

/// Fails at once, and waits for a second.
#[retry(attempts = most, base = "1s", jitter = "none", budget = "none")]
async fn middle(most: u32, body: impl AsyncFn() -> io::Result<()>) -> io::Result<()> {
    body().await
}

#[retry(attempts = most, base = "1ms", budget = "none")]
async fn outer_selects(
    most: u32,
    calls: &Calls,
    body: impl AsyncFn() -> io::Result<()>,
) -> io::Result<()> {
    calls.borrow_mut().push(0);
    tokio::select! {
        ended = body() => ended,
        () = sleep(ms(100)) => Err(reset()),
    }
}

/// The call in the middle is dropped after each number of polls, so at each of its awaits.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_at_any_await_has_told_of_its_retries() {
    for polls in 1..=12_u32 {
        let calls = &Calls::default();
        twice(async || {
            calls.borrow_mut().push(0);
            // Only the first attempt drops the call, unless it has ended.
            let mut left = match calls.borrow().len() {
                1 => polls,
                _ => u32::MAX,
            };
            let mut call = Box::pin(middle(4, async || inner(4, calls).await));
            let ended = poll_fn(|context| {
                left -= 1;
                match call.as_mut().poll(context) {
                    Poll::Pending if left == 0 => Poll::Ready(Err(reset())),
                    polled => polled,
                }
            });
            ended.await.map(|()| 0)
        })
        .await
        .unwrap_err();
        // Each poll makes a call: four of `inner`, and then one in each retry of `middle`.
        let first = polls.min(4 + 3);
        // The retries that have begun in the first attempt are missing in the second.
        let second = 4 + 3 - (first - 1);
        assert_eq!(calls.take(), [first, second], "{polls} polls");
    }
}

/// A panic that a body catches drops the call that panicked.
#[tokio::test(start_paused = true)]
async fn a_call_that_panics_passes_on_the_retries_that_it_remembers() {
    let calls = &Calls::default();
    let body = async || {
        let call = middle(3, async || {
            let _ = inner(3, calls).await;
            panic_any(())
        });
        AssertUnwindSafe(call)
            .catch_unwind()
            .await
            .unwrap_or(Err(reset()))
    };
    outer_selects(3, calls, body).await.unwrap_err();
    assert_eq!(calls.take(), [3, 1, 1]);
}
