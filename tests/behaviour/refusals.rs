//! The budget, a hint or `cancel` may refuse a retry in an inner call. The outer calls do not retry either,
//! unless their body goes on after the refusal. `shared_deadlines.rs` has the refusals of deadlines.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::time::Duration;

use futures::future::try_join;
use reattempt::{Budget, Outcome, Retryable, Stopped, deadline, retry};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::script::{RESET, Script, Step, ms, reset, stopped, times_of};

/// Makes four attempts at `body`.
#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn around(body: impl AsyncFn() -> io::Result<usize>) -> io::Result<usize> {
    body().await
}

/// A budget with too few tokens for any retry.
static EMPTY: Budget = Budget::new().with_capacity(1);

plays!(refused(attempts = 4, base = "1ms", budget = "EMPTY"));

plays! { cancelled(attempts = 4, budget = "none", cancel = std::future::ready(())) }

/// The error of a server that asks for two minutes, which is longer than any function here waits.
#[derive(Debug, thiserror::Error, Retryable)]
#[error("busy")]
#[retryable(throttled, after = "wait")]
struct Busy {
    wait: Duration,
}

#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn told_to_wait(calls: &Cell<usize>) -> Result<usize, Busy> {
    calls.set(calls.get() + 1);
    Err(Busy {
        wait: Duration::from_secs(120),
    })
}

#[tokio::test(start_paused = true)]
async fn no_outer_call_retries_after_a_refusal_of_the_budget() {
    let script = Script::new([RESET]);
    let ended = around(async || around(async || refused(&script).await).await).await;
    assert_eq!(ended.unwrap_err().to_string(), "call 1");
    assert_eq!(script.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_begins_beside_a_refused_one_does_not_take_the_refusal_back() {
    let [script, beside] = [RESET, Step::Succeed].map(|step| Script::new([step]));
    let body = async || {
        let beside = around(async || beside.play().await);
        tokio::join!(biased; refused(&script), beside).0
    };
    around(body).await.unwrap_err();
    assert_eq!((script.calls(), beside.calls()), (1, 1));
}

/// It is still in an attempt, or between two. The body cannot have gone on, since it waits for both.
#[tokio::test(start_paused = true)]
async fn a_call_that_began_before_the_refusal_and_ends_later_does_not_take_it_back() {
    plays!(twice(attempts = 2, delays = ["5ms"], budget = "none"));
    let later = [
        vec![Step::SucceedAfter(ms(5))],
        vec![Step::FailAfter(ms(5)), Step::Succeed],
        vec![RESET, Step::SucceedAfter(ms(5))],
        vec![Step::FailAfter(ms(5))],
    ];
    for steps in later {
        for refused_first in [true, false] {
            let script = Script::new([Step::FailAfter(ms(1))]);
            let beside = Script::new(steps.clone());
            let body = async || {
                if refused_first {
                    tokio::join!(biased; refused(&script), twice(&beside)).0
                } else {
                    tokio::join!(biased; twice(&beside), refused(&script)).1
                }
            };
            around(body).await.unwrap_err();
            assert_eq!(script.calls(), 1, "{steps:?} {refused_first}");
        }
    }
}

/// The wait for the other call is over, so the next one is that of a body that went on.
#[tokio::test(start_paused = true)]
async fn a_body_that_goes_on_when_both_calls_ended_is_retried() {
    plays!(other(attempts = 1));
    let (script, beside) = (
        Script::new([Step::FailAfter(ms(1))]),
        Script::new([Step::SucceedAfter(ms(5))]),
    );
    let body = async || {
        let (_, call) = tokio::join!(refused(&script), other(&beside));
        tokio::task::yield_now().await;
        call.and(Err(reset()))
    };
    around(body).await.unwrap_err();
    assert_eq!((script.calls(), beside.calls()), (4, 4));
}

/// Both end in one poll, and the last attempt of the second call begins there, after the refusal of the first.
#[tokio::test(start_paused = true)]
async fn a_call_that_began_before_the_refusal_does_not_take_it_back_when_it_fails() {
    plays!(twice(attempts = 2, delays = ["1ms"], budget = "none"));
    let [script, beside] = [Step::FailAfter(ms(1)), RESET].map(|step| Script::new([step]));
    let body = async || tokio::join!(biased; refused(&script), twice(&beside)).0;
    around(body).await.unwrap_err();
    assert_eq!((script.calls(), beside.calls()), (1, 2));
}

/// Of three, it begins after the refusal, and fails in a later poll: it follows no refusal any more.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_pending_after_the_refusal_does_not_take_it_back_when_it_fails() {
    plays!(once(attempts = 1));
    let [script, lasts, later] =
        [RESET, Step::SucceedAfter(ms(9)), Step::FailAfter(ms(5))].map(|step| Script::new([step]));
    let body = async || tokio::join!(biased; once(&lasts), refused(&script), once(&later)).1;
    around(body).await.unwrap_err();
    assert_eq!((script.calls(), later.calls()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn no_outer_call_retries_after_a_hint_that_is_too_long() {
    let calls = Cell::new(0);
    // The body returns another error, which has no hint.
    let body = async || told_to_wait(&calls).await.map_err(|_| reset());
    around(async || around(body).await).await.unwrap_err();
    assert_eq!(calls.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_outer_call_retries_after_a_cancelled_call() {
    plays! { cancelled_later(attempts = 4, base = "1s", jitter = "none", cancel = sleep(ms(500)), budget = "none") }
    // `cancel` strikes in an attempt, in a wait, and before the first attempt. The body always returns a retryable
    // error.
    for step in [Step::Hang, RESET] {
        let script = Script::new([step]);
        let body = async || cancelled_later(&script).await.map_err(|_| reset());
        around(async || around(body).await).await.unwrap_err();
        assert_eq!((script.calls(), script.elapsed()), (1, ms(500)), "{step:?}");
    }
    let attempts = Cell::new(0);
    around(async || {
        attempts.set(attempts.get() + 1);
        cancelled(&Script::new([RESET])).await.map_err(|_| reset())
    })
    .await
    .unwrap_err();
    assert_eq!(attempts.get(), 1);
}

/// The body may return another error, if it fails at once.
#[tokio::test(start_paused = true)]
async fn a_body_may_return_another_error_for_the_refusal() {
    let script = Script::new([RESET]);
    around(async || match refused(&script).await {
        Ok(call) => Ok(call),
        Err(_) => Err(ErrorKind::BrokenPipe.into()),
    })
    .await
    .unwrap_err();
    assert_eq!(script.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_in_one_of_several_calls_ends_the_attempt_with_them() {
    let (script, other) = (Script::new([RESET]), Script::new([Step::Hang]));
    around(async || {
        let both = try_join(other.play(), refused(&script)).await;
        both.map(|(_, call)| call)
    })
    .await
    .unwrap_err();
    assert_eq!((script.calls(), other.calls()), (1, 1));
}

/// Fails for its own reason, after a suspension.
async fn fails_later(calls: &Cell<usize>) -> io::Result<usize> {
    calls.set(calls.get() + 1);
    tokio::task::yield_now().await;
    Err(reset())
}

#[tokio::test(start_paused = true)]
async fn a_body_that_went_on_after_a_refusal_is_retried() {
    let (cache, database) = (Script::new([RESET]), Cell::new(0));
    around(async || {
        let _ = refused(&cache).await;
        fails_later(&database).await
    })
    .await
    .unwrap_err();
    assert_eq!((cache.calls(), database.get()), (4, 4), "budget");

    let database = Cell::new(0);
    around(async || {
        let _ = cancelled(&Script::new([RESET])).await;
        fails_later(&database).await
    })
    .await
    .unwrap_err();
    assert_eq!(database.get(), 4, "cancel");

    let (cache, database) = (Cell::new(0), Cell::new(0));
    around(async || {
        let _ = told_to_wait(&cache).await;
        fails_later(&database).await
    })
    .await
    .unwrap_err();
    assert_eq!((cache.get(), database.get()), (4, 4), "hint");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_only_yielded_after_a_refusal_is_retried() {
    let cache = Script::new([RESET]);
    around(async || {
        let _ = refused(&cache).await;
        tokio::task::yield_now().await;
        Err(reset())
    })
    .await
    .unwrap_err();
    assert_eq!(cache.calls(), 4);
}

/// The second call is annotated too, and fails in a later poll, for its own reason.
#[tokio::test(start_paused = true)]
async fn a_body_that_went_on_to_another_annotated_call_is_retried() {
    plays!(database(attempts = 4, base = "1ms", budget = "none"));
    let (cache, store) = (Script::new([RESET]), Script::new([Step::FailAfter(ms(1))]));
    around(async || {
        let _ = refused(&cache).await;
        database(&store).await
    })
    .await
    .unwrap_err();
    assert_eq!((cache.calls(), store.calls()), (4, 7));
}

/// The body handles the refusal, makes another call, and fails for a reason of its own.
#[tokio::test(start_paused = true)]
async fn a_call_after_a_refusal_takes_it_back() {
    static ONE: Budget = Budget::ratio(0.0).with_capacity(1);
    plays!(refused(attempts = 4, base = "1ms", budget = "ONE"));
    plays!(other(attempts = 4, base = "1ms", budget = "none"));
    let (primary, attempts) = (Script::new([RESET]), Script::new([RESET]));
    around(async || {
        refused(&primary).await.unwrap_err();
        other(&Script::new([Step::Succeed])).await?;
        attempts.play().await
    })
    .await
    .unwrap_err();
    assert_eq!(attempts.calls(), 4);
}

/// The primary has an empty budget, so its refusal is no reason to leave out the retries of its backup.
#[tokio::test(start_paused = true)]
async fn a_fallback_that_fails_at_once_is_retried() {
    plays!(primary(attempts = 4, base = "1ms", budget = "EMPTY"));
    plays!(backup(attempts = 1));
    #[retry(attempts = 3, delays = ["0s"], budget = "none")]
    async fn price(backup_of: &Script) -> io::Result<usize> {
        match primary(&Script::new([RESET])).await {
            Err(_) => backup(backup_of).await,
            price => price,
        }
    }
    let script = Script::new([RESET]);
    let (_, report) = reattempt::with_report(price(&script)).await;
    assert_eq!(report.unwrap().outcome(), Outcome::AttemptsExhausted);
    assert_eq!(script.calls(), 3);
}

#[retry(attempts = 4, delays = ["0s"], budget = "EMPTY", blocking)]
fn refused_at_once() -> io::Result<u8> {
    Err(reset())
}

#[test]
fn a_blocking_body_that_went_on_to_another_call_is_retried() {
    #[retry(attempts = 1, blocking)]
    fn backup(fails: bool) -> io::Result<u8> {
        if fails { Err(reset()) } else { Ok(1) }
    }
    #[retry(attempts = 3, delays = ["0s"], budget = "none", blocking)]
    fn price(fails: bool, calls: &Cell<u32>) -> io::Result<u8> {
        calls.set(calls.get() + 1);
        refused_at_once().or_else(|_| backup(fails))?;
        Err(reset())
    }
    for fails in [true, false] {
        let calls = Cell::new(0);
        price(fails, &calls).unwrap_err();
        assert_eq!(calls.get(), 3, "{fails}");
    }
}

/// Hooks and rules are no part of the body around, so a refusal of their calls is none of that.
#[tokio::test(start_paused = true)]
async fn a_refusal_in_a_hook_or_a_rule_ends_no_call() {
    #[retry(attempts = 2, delays = ["0s"], budget = "none")]
    async fn by_verdict(calls: &Cell<u32>) -> Result<(), Asks> {
        calls.set(calls.get() + 1);
        Err(Asks)
    }
    #[retry(attempts = 2, delays = ["0s"], budget = "none", when_ok = |()| refused_at_once().is_err())]
    async fn by_value(calls: &Cell<u32>) -> io::Result<()> {
        calls.set(calls.get() + 1);
        Ok(())
    }
    #[derive(Debug, thiserror::Error)]
    #[error("asks")]
    struct Asks;
    impl Retryable for Asks {
        fn verdict(&self) -> reattempt::Verdict {
            let _ = refused_at_once();
            reattempt::Verdict::Transient
        }
    }
    fn asks() -> bool {
        refused_at_once().is_err()
    }
    macro_rules! check {
        ($key:ident = $value:expr) => {{
            plays! { inner(attempts = 2, delays = ["0s"], budget = "none", on = "io::Error", $key = $value) }
            let script = Script::new([RESET]);
            around(async || inner(&script).await).await.unwrap_err();
            // Four attempts around two.
            assert_eq!(script.calls(), 5, stringify!($key));
        }};
    }
    check!(on_retry = |_| assert!(asks()));
    check!(when = |_| asks());
    check!(unless = |_| !asks());
    check!(retry_after = |_| asks().then_some(Duration::ZERO));
    let calls = Cell::new(0);
    around(async || by_verdict(&calls).await.map(|()| 0).map_err(|_| reset()))
        .await
        .unwrap_err();
    assert_eq!(calls.get(), 5);
    let values = Cell::new(0);
    around(async || by_value(&values).await.and_then(|()| Err(reset())))
        .await
        .unwrap_err();
    assert_eq!(values.get(), 5);
}

/// The call in the middle has a rule that would not retry either.
#[tokio::test(start_paused = true)]
async fn a_refusal_passes_through_a_call_that_has_its_own_reason_to_stop() {
    #[retry(attempts = 4, base = "1ms", budget = "none", unless = |_| true)]
    async fn between(script: &Script) -> io::Result<usize> {
        refused(script).await
    }
    let script = Script::new([RESET]);
    around(async || between(&script).await).await.unwrap_err();
    assert_eq!(script.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_passes_through_a_scope() {
    let script = Script::new([RESET]);
    around(async || deadline::scope(ms(3000), refused(&script)).await)
        .await
        .unwrap_err();
    assert_eq!(script.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_was_cut_after_a_refusal_is_retried() {
    #[retry(attempts = 3, timeout = "100ms", base = "1ms", budget = "none")]
    async fn hangs(cache: &Script) -> io::Result<usize> {
        let _ = refused(cache).await;
        std::future::pending().await
    }
    let cache = Script::new([RESET]);
    let error = hangs(&cache).await.unwrap_err();
    assert_eq!(stopped(&error).outcome(), Outcome::Timeout);
    assert_eq!(cache.calls(), 3);
}

/// The body handles the refusal in the first attempt. The second attempt fails at once, for another reason.
#[tokio::test(start_paused = true)]
async fn a_refusal_is_forgotten_when_its_attempt_is_over() {
    let (cache, attempts) = (Script::new([RESET]), Cell::new(0));
    around(async || {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 1 {
            let _ = refused(&cache).await;
            tokio::task::yield_now().await;
        }
        Err(reset())
    })
    .await
    .unwrap_err();
    assert_eq!((attempts.get(), cache.calls()), (4, 1));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_succeeds_after_a_refusal_has_succeeded() {
    let cache = Script::new([RESET]);
    let ended = around(async || {
        let _ = refused(&cache).await;
        Ok(1)
    })
    .await;
    assert_eq!((ended.unwrap(), cache.calls()), (1, 1));
}

/// The call in the middle goes on and fails in a later poll. It is retried, and its last attempt is refused.
#[tokio::test(start_paused = true)]
async fn a_refusal_ends_the_calls_around_only_where_they_fail_with_it() {
    let (script, attempts) = (Script::new([RESET]), Cell::new(0));
    around(async || {
        around(async || {
            attempts.set(attempts.get() + 1);
            let ended = refused(&script).await;
            if attempts.get() < 3 {
                tokio::task::yield_now().await;
            }
            ended
        })
        .await
    })
    .await
    .unwrap_err();
    assert_eq!((attempts.get(), script.calls()), (3, 3));
}

/// The outer call makes two attempts, whether the inner call ends without a wait or is cut.
#[tokio::test(start_paused = true)]
async fn the_deadline_of_an_inner_function_does_not_end_the_outer_call() {
    plays! { limited(attempts = 4, deadline = ms(1000), base = "2s", jitter = "none", budget = "none") }
    #[retry(attempts = 2, base = "1s", jitter = "none", budget = "none", when = |_| true)]
    async fn around(script: &Script) -> io::Result<usize> {
        limited(script).await
    }
    assert_eq!(times_of(around).await, [ms(0), ms(1000)]);

    let script = Script::new([Step::Hang]);
    let error = around(&script).await.unwrap_err();
    assert_eq!(stopped(&error).outcome(), Outcome::Deadline);
    assert_eq!(script.times(), [ms(0), ms(2000)]);
    assert_eq!(script.elapsed(), ms(3000));
}

/// Each call keeps the nearest deadline itself, and a retry that it refused an inner call is refused the outer one too.
#[tokio::test(start_paused = true)]
async fn an_inherited_deadline_ends_the_outer_call_that_set_it() {
    plays! { inner(attempts = 10, base = "300ms", jitter = "none", backoff = "constant", budget = "none") }
    #[retry(
        attempts = 4,
        deadline = "1s",
        base = "300ms",
        backoff = "constant",
        jitter = "none",
        budget = "none",
        when = |_| true
    )]
    async fn outer(script: &Script) -> Result<usize, Failure> {
        Ok(inner(script).await?)
    }
    #[derive(Debug, thiserror::Error)]
    enum Failure {
        #[error("input or output")]
        Io(#[from] io::Error),
        #[error(transparent)]
        Stopped(#[from] Stopped),
    }
    // The deadline cuts the outer call, which returns its own `Stopped`.
    let script = Script::new([RESET, Step::Hang]);
    let error = outer(&script).await.unwrap_err();
    let Failure::Stopped(stopped) = error else {
        panic!("{error:?}")
    };
    assert_eq!(stopped.outcome(), Outcome::Deadline);
    assert_eq!(
        (script.times(), script.elapsed()),
        (vec![ms(0), ms(300)], ms(1000))
    );

    // The next wait does not fit, neither of the inner call nor of the outer one.
    let script = Script::new([RESET]);
    let error = outer(&script).await.unwrap_err();
    assert!(matches!(error, Failure::Io(_)), "{error:?}");
    assert_eq!(script.elapsed(), ms(900));
    assert_eq!(script.calls(), 4);

    // A scope is around both calls.
    let script = Script::new([RESET, Step::Hang]);
    let ended = deadline::scope(ms(500), outer(&script)).await;
    ended.unwrap_err();
    assert_eq!((script.calls(), script.elapsed()), (2, ms(500)));
}

/// At shutdown, no layer of the program goes on.
#[tokio::test(start_paused = true)]
async fn one_signal_ends_every_layer() {
    #[retry(attempts = 4, base = "1s", jitter = "none", budget = "none", cancel = stop.notified())]
    async fn inner(script: &Script, stop: &Notify) -> io::Result<usize> {
        script.play().await
    }
    let (script, stop) = (Script::new([RESET, Step::Hang]), Notify::new());
    let body = async || around(async || inner(&script, &stop).await).await;
    let (ended, ()) = tokio::join!(around(body), async {
        sleep(ms(1500)).await;
        stop.notify_one();
    });
    let error = ended.unwrap_err();
    assert_eq!(stopped(&error).outcome(), Outcome::Cancelled);
    assert_eq!((script.calls(), script.elapsed()), (2, ms(1500)));
}
