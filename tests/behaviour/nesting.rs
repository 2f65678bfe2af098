//! Retried functions inside one another: their retries add.

use std::future::Future;
use std::io;
use std::pin::Pin;

use futures::future::join;
use reattempt::{Attempt, Budget, Nested, deadline, propagate, retry};

use crate::script::{RESET, Script, Step, ms};

type Calling<'a> = Pin<Box<dyn Future<Output = io::Result<usize>> + 'a>>;

plays!(inner(attempts = 4, base = "1ms", budget = "none"));

/// Its budget, which has room for one retry at most, refuses the others.
#[retry(attempts = 4, base = "1ms", budget = budget)]
async fn refused(script: &Script, budget: &Budget) -> io::Result<usize> {
    script.play().await
}

#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn around<'a>(body: &dyn Fn() -> Calling<'a>) -> io::Result<usize> {
    body().await
}

#[tokio::test(start_paused = true)]
async fn two_layers_of_four_make_seven_calls() {
    let script = Script::new([RESET]);
    around(&|| Box::pin(inner(&script))).await.unwrap_err();
    assert_eq!(script.calls(), 7);
}

#[tokio::test(start_paused = true)]
async fn three_layers_of_four_make_ten_calls() {
    let script = Script::new([RESET]);
    around(&|| Box::pin(async { around(&|| Box::pin(inner(&script))).await }))
        .await
        .unwrap_err();
    assert_eq!(script.calls(), 10);
}

#[test]
fn each_nesting_is_shown_as_its_word() {
    let words = [Nested::Add, Nested::Multiply, Nested::Outermost].map(|nested| nested.to_string());
    assert_eq!(words, ["add", "multiply", "outermost"]);
}

#[tokio::test(start_paused = true)]
async fn multiply_multiplies() {
    plays!(inner(
        attempts = 4,
        base = "1ms",
        budget = "none",
        nested = "multiply"
    ));
    let script = Script::new([RESET]);
    around(&|| Box::pin(inner(&script))).await.unwrap_err();
    assert_eq!(script.calls(), 16);
}

#[tokio::test(start_paused = true)]
async fn outermost_leaves_the_retries_to_the_outermost_call() {
    plays!(inner(
        attempts = 4,
        base = "1ms",
        budget = "none",
        nested = "outermost"
    ));
    #[retry(attempts = 4, nested = "outermost")]
    async fn allowed() -> io::Result<usize> {
        let allowed = Attempt::current().and_then(|attempt| attempt.attempts());
        Ok(allowed.map_or(0, |allowed| allowed as usize))
    }
    let script = Script::new([RESET]);
    around(&|| Box::pin(inner(&script))).await.unwrap_err();
    assert_eq!(script.calls(), 4);

    let script = Script::new([RESET]);
    inner(&script).await.unwrap_err();
    assert_eq!(script.calls(), 4, "it is the outermost one itself");

    let within = around(&|| Box::pin(allowed())).await;
    assert_eq!([within.unwrap(), allowed().await.unwrap()], [1, 4]);
}

/// A call retries a retryable failure, whatever its siblings do.
#[tokio::test(start_paused = true)]
async fn calls_side_by_side_do_not_take_from_each_other() {
    let (one, other) = (Script::new([RESET]), Script::new([RESET]));
    around(&|| {
        Box::pin(async {
            let (ended, _) = join(inner(&one), inner(&other)).await;
            ended
        })
    })
    .await
    .unwrap_err();
    assert_eq!((one.calls(), other.calls()), (7, 7));
}

#[tokio::test(start_paused = true)]
async fn two_calls_one_after_the_other_have_the_same_retries() {
    let (one, other) = (Script::new([RESET]), Script::new([RESET]));
    around(&|| {
        Box::pin(async {
            let _ = inner(&one).await;
            inner(&other).await
        })
    })
    .await
    .unwrap_err();
    assert_eq!((one.calls(), other.calls()), (7, 7));
}

/// The second attempt can use the retries that the first attempt did not need.
#[tokio::test(start_paused = true)]
async fn only_retries_that_were_made_count() {
    let script = Script::new([Step::Succeed, RESET, RESET, RESET, Step::Succeed]);
    let first = std::cell::Cell::new(true);
    let ended = around(&|| {
        let first = first.replace(false);
        Box::pin({
            let script = &script;
            async move {
                let call = inner(script).await?;
                if first {
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
                Ok(call)
            }
        })
    })
    .await;
    assert_eq!(ended.unwrap(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_budget_is_not_retried_further_out() {
    let empty = Budget::new().with_capacity(1);
    let script = Script::new([RESET]);
    around(&|| Box::pin(refused(&script, &empty)))
        .await
        .unwrap_err();
    assert_eq!(script.calls(), 1);
}

/// The outer call has no deadline.
#[tokio::test(start_paused = true)]
async fn a_call_that_its_own_deadline_ended_is_retried_further_out() {
    plays!(limited(
        attempts = 4,
        deadline = ms(1000),
        base = "2s",
        jitter = "none",
        budget = "none"
    ));
    let script = Script::new([RESET]);
    around(&|| Box::pin(limited(&script))).await.unwrap_err();
    assert_eq!(script.calls(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_is_not_retried_further_out() {
    plays!(cancelled(
        attempts = 4,
        cancel = tokio::time::sleep(ms(5)),
        budget = "none"
    ));
    let script = Script::new([Step::Hang]);
    around(&|| Box::pin(cancelled(&script))).await.unwrap_err();
    assert_eq!(script.calls(), 1);
}

/// The body handles the refusal, and fails later for another reason.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_the_body_handles_does_not_end_the_outer_call() {
    let empty = Budget::new().with_capacity(1);
    let (primary, secondary) = (
        Script::new([RESET]),
        Script::new([RESET, RESET, RESET, RESET, Step::Succeed]),
    );
    let ended = around(&|| {
        Box::pin(async {
            match refused(&primary, &empty).await {
                Ok(call) => Ok(call),
                Err(_) => inner(&secondary).await,
            }
        })
    })
    .await;
    assert_eq!(ended.unwrap(), 5);
    assert_eq!(primary.calls(), 2);
}

/// The body handles the refusal, makes another call, and fails for a reason of its own.
#[tokio::test(start_paused = true)]
async fn a_call_after_a_refusal_takes_it_back() {
    let empty = Budget::ratio(0.0).with_capacity(1);
    let (primary, attempts) = (Script::new([RESET]), Script::new([RESET]));
    around(&|| {
        Box::pin(async {
            refused(&primary, &empty).await.unwrap_err();
            inner(&Script::new([Step::Succeed])).await?;
            attempts.play().await
        })
    })
    .await
    .unwrap_err();
    assert_eq!(attempts.calls(), 4);
}

/// The call in the middle has a rule that would not retry either.
#[tokio::test(start_paused = true)]
async fn a_refusal_passes_through_a_call_that_has_its_own_reason_to_stop() {
    #[retry(attempts = 4, base = "1ms", budget = "none", unless = |_| true)]
    async fn between(script: &Script, budget: &Budget) -> io::Result<usize> {
        refused(script, budget).await
    }
    let empty = Budget::new().with_capacity(1);
    let script = Script::new([RESET]);
    around(&|| Box::pin(between(&script, &empty)))
        .await
        .unwrap_err();
    assert_eq!(script.calls(), 1);
}

/// One retry helps in the first attempt. The third attempt still has all three retries, and they fail.
#[tokio::test(start_paused = true)]
async fn a_retry_that_helped_is_not_counted_however_many_attempts_follow() {
    let script = Script::new([RESET, Step::Succeed, Step::Succeed, RESET]);
    let attempts = std::cell::Cell::new(0);
    around(&|| {
        let attempt = attempts.replace(attempts.get() + 1);
        Box::pin({
            let script = &script;
            async move {
                let call = inner(script).await?;
                if attempt < 2 {
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
                Ok(call)
            }
        })
    })
    .await
    .unwrap_err();
    assert_eq!(attempts.get(), 4);
    assert_eq!(script.calls(), 2 + 1 + 4 + 1);
}

#[tokio::test(start_paused = true)]
async fn calls_in_a_carried_future_add_too() {
    let script = Script::new([RESET]);
    around(&|| Box::pin(propagate(inner(&script))))
        .await
        .unwrap_err();
    assert_eq!(script.calls(), 7);

    let script = Script::new([RESET]);
    around(&|| Box::pin(async { around(&|| Box::pin(propagate(inner(&script)))).await }))
        .await
        .unwrap_err();
    assert_eq!(script.calls(), 10);
}

/// The first attempt fails in a carried call, the others in one that is not.
#[tokio::test(start_paused = true)]
async fn retries_in_a_carried_future_are_not_counted() {
    let script = Script::new([RESET]);
    let attempts = std::cell::Cell::new(0);
    around(&|| {
        let call = inner(&script);
        if attempts.replace(attempts.get() + 1) == 0 {
            Box::pin(propagate(call))
        } else {
            Box::pin(call)
        }
    })
    .await
    .unwrap_err();
    assert_eq!(script.calls(), 4 + 7 - 1);
}

/// The call in the middle makes a single attempt in each attempt of the outer call.
#[tokio::test(start_paused = true)]
async fn a_carried_future_within_a_later_attempt_has_one_attempt_a_call() {
    #[retry(attempts = 4, base = "1ms", budget = "none")]
    async fn carries(script: &Script) -> io::Result<usize> {
        propagate(async { between(script).await }).await
    }
    #[retry(attempts = 1)]
    async fn between(script: &Script) -> io::Result<usize> {
        inner(script).await
    }
    let script = Script::new([RESET]);
    carries(&script).await.unwrap_err();
    assert_eq!(script.calls(), 7);
}

/// The call around has made its first attempt then, and no other before the first `before_retry`.
#[tokio::test(start_paused = true)]
async fn a_carried_future_within_a_later_before_retry_has_one_attempt_a_call() {
    #[retry(
        attempts = 4,
        base = "1ms",
        budget = "none",
        before_retry = propagate(async { drop(inner(script).await) })
    )]
    async fn carries(script: &Script) -> io::Result<usize> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let script = Script::new([RESET]);
    carries(&script).await.unwrap_err();
    assert_eq!(script.calls(), 4 + 1 + 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_passes_through_a_scope() {
    let empty = Budget::new().with_capacity(1);
    let script = Script::new([RESET]);
    around(&|| Box::pin(deadline::scope(ms(3000), refused(&script, &empty))))
        .await
        .unwrap_err();
    assert_eq!(script.calls(), 1);
}
