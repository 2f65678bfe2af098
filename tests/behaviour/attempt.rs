//! What the body of an attempt can read about its call.

use std::cell::RefCell;
use std::io;

use reattempt::{Attempt, PreviousFailure, Verdict, propagate, retry};

use crate::script::{RESET, Script, Step, ms};

/// The number of an attempt, the limit of attempts, and how the attempt before failed.
type Seen = (u32, Option<u32>, Option<PreviousFailure>);

#[tokio::test(start_paused = true)]
async fn each_attempt_knows_its_number_and_how_the_last_one_failed() {
    #[retry(attempts = 4, timeout = "1s", budget = "none")]
    async fn call(script: &Script, seen: &RefCell<Vec<Seen>>) -> io::Result<usize> {
        let attempt = Attempt::current().ok_or(io::ErrorKind::InvalidInput)?;
        seen.borrow_mut()
            .push((attempt.number(), attempt.attempts(), attempt.previous()));
        script.play().await
    }
    let (script, seen) = (
        Script::new([RESET, Step::Hang, Step::Succeed]),
        RefCell::default(),
    );
    call(&script, &seen).await.unwrap();
    assert_eq!(
        seen.into_inner(),
        [
            (1, Some(4), None),
            (
                2,
                Some(4),
                Some(PreviousFailure::Failed(Verdict::Transient))
            ),
            (3, Some(4), Some(PreviousFailure::TimedOut)),
        ]
    );
    assert!(Attempt::current().is_none(), "outside of any call");
}

#[tokio::test(start_paused = true)]
async fn the_time_left_is_of_the_nearest_limit() {
    #[retry(
        attempts = 3,
        timeout = "1s",
        deadline = "2500ms",
        base = "1s",
        jitter = "none",
        backoff = "constant",
        budget = "none"
    )]
    async fn call(script: &Script) -> io::Result<usize> {
        let left = || Attempt::current().and_then(|attempt| attempt.remaining());
        let full = left().ok_or(io::ErrorKind::InvalidInput)?;
        tokio::time::sleep(ms(100)).await;
        let later = left().ok_or(io::ErrorKind::InvalidInput)?;
        match script.calls() {
            // In the second attempt, the deadline is still far.
            0 | 1 => assert_eq!((full, later), (ms(1000), ms(900))),
            _ => assert_eq!((full, later), (ms(300), ms(200))),
        }
        script.play().await
    }
    let script = Script::new([RESET, RESET, Step::Succeed]);
    call(&script).await.unwrap();
    assert_eq!(script.calls(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_spawned_task_sees_the_attempt_only_if_it_is_carried() {
    #[retry(attempts = 2, budget = "none")]
    async fn call(script: &Script) -> io::Result<(Option<u32>, Option<u32>)> {
        let number = || Attempt::current().map(|attempt| attempt.number());
        let alone = tokio::spawn(async move { number() }).await;
        let carried = tokio::spawn(propagate(async move {
            tokio::task::yield_now().await;
            number()
        }))
        .await;
        script.play().await?;
        Ok((alone?, carried?))
    }
    let script = Script::new([RESET, Step::Succeed]);
    assert_eq!(call(&script).await.unwrap(), (None, Some(2)));
}

/// A future that is polled outside of the call, by a task that moved it, is not within the attempt.
#[tokio::test(start_paused = true)]
async fn between_two_polls_nothing_is_left_behind() {
    #[retry(attempts = 2, timeout = "1s", budget = "none")]
    async fn call(script: &Script) -> io::Result<usize> {
        tokio::time::sleep(ms(10)).await;
        script.play().await
    }
    let script = Script::new([RESET, Step::Succeed]);
    let mut future = Box::pin(call(&script));
    assert!(futures::poll!(&mut future).is_pending());
    assert!(Attempt::current().is_none());
    future.await.unwrap();
    assert!(Attempt::current().is_none());
}
