//! Examples of nested retries that the random trees of `nested_trees.rs` do not play: what one operation is, calls that
//! are kept, panic or succeed, attempts that differ, how long failed retries are remembered, carried futures, and the key
//! `nested`.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, panic_any};
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use futures::stream::{self, StreamExt};
use proptest::prelude::*;
use reattempt::{Attempt, Nested, Policy, deadline, propagate, retry};
use tokio::time::{sleep, timeout};

use crate::script::{RESET, Script, Step, ms, reset};

/// An error that is not retryable.
const MISSING: Step = Step::Fail(ErrorKind::NotFound);

/// The outer call: makes this many attempts at `body`.
#[retry(attempts = most, base = "1ms", budget = "none")]
async fn around<T>(most: u32, mut body: impl AsyncFnMut() -> io::Result<T>) -> io::Result<T> {
    body().await
}

/// What most projects have: one function that retries whatever it gets.
#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn helper<T, F, Fut>(mut op: F) -> io::Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = io::Result<T>>,
{
    op().await
}

/// The same with `Policy::run`, whose calls have one place in the source.
async fn run_helper<F, Fut>(name: &'static str, op: F) -> io::Result<usize>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = io::Result<usize>>,
{
    let policy = Policy::new().with_attempts(4).with_base(ms(1));
    let run = policy.run(op).with_name(name);
    run.without_budget().unboxed().await
}

plays!(get(attempts = 4, base = "1ms", budget = "none"));
plays!(six(attempts = 6, base = "1ms", budget = "none"));

fn dead() -> Script {
    Script::new([RESET])
}

/// Is in vain for the first call of a function with four attempts, and fine then.
fn in_vain_once() -> Script {
    Script::new([RESET, RESET, RESET, RESET, Step::Succeed])
}

/// Succeeds at the third request.
fn third_time() -> Script {
    Script::new([RESET, RESET, Step::Succeed])
}

/// What [`in_vain_once`] and then [`third_time`] are asked by calls of four attempts, if both get what they need.
const BOTH: [usize; 2] = [4 + 1, 3];

#[tokio::test(start_paused = true)]
async fn a_helper_that_was_in_vain_for_one_operation_has_all_attempts_for_the_next() {
    let (a, b) = (in_vain_once(), third_time());
    let ended = around(3, async || {
        helper(|| a.play()).await?;
        helper(|| b.play()).await
    });
    ended.await.unwrap();
    assert_eq!([a.calls(), b.calls()], BOTH);
}

#[tokio::test(start_paused = true)]
async fn a_loop_has_all_attempts_for_an_item_that_was_never_tried() {
    let items = [
        Script::new([Step::Succeed]),
        in_vain_once(),
        third_time(),
        third_time(),
    ];
    let ended = around(3, async || {
        for item in &items {
            get(item).await?;
        }
        Ok(())
    });
    ended.await.unwrap();
    assert_eq!(items.map(|item| item.calls()), [2, 4 + 1, 3, 3]);
}

/// The item after which the first attempt failed has made no retries, so none are taken from it.
#[tokio::test(start_paused = true)]
async fn an_item_that_succeeded_at_once_keeps_its_attempts_when_a_later_one_was_in_vain() {
    let first = Script::new([Step::Succeed, RESET, RESET, Step::Succeed]);
    let second = in_vain_once();
    let ended = around(3, async || {
        get(&first).await?;
        get(&second).await
    });
    ended.await.unwrap();
    assert_eq!([first.calls(), second.calls()], [1 + 3, 4 + 1]);
}

#[tokio::test(start_paused = true)]
async fn runs_with_two_names_at_one_place_do_not_take_from_each_other() {
    let (a, b) = (in_vain_once(), third_time());
    let ended = around(3, async || {
        run_helper("a", || a.play()).await?;
        run_helper("b", || b.play()).await
    });
    ended.await.unwrap();
    assert_eq!([a.calls(), b.calls()], BOTH);

    // A name tells operations apart that are never made in the same attempt.
    let (a, b) = (in_vain_once(), third_time());
    let ended = around(3, async || match Attempt::current().unwrap().number() {
        1 => run_helper("a", || a.play()).await,
        _ => run_helper("b", || b.play()).await,
    });
    ended.await.unwrap();
    assert_eq!([a.calls(), b.calls()], [4, 3]);
}

#[tokio::test(start_paused = true)]
#[rustfmt::skip]
async fn two_closures_of_one_line_do_not_take_from_each_other() {
    let (a, b) = (in_vain_once(), third_time());
    let ended = around(3, async || {
        run_helper("one", || a.play()).await?; run_helper("one", || b.play()).await
    });
    ended.await.unwrap();
    assert_eq!([a.calls(), b.calls()], BOTH);
}

#[tokio::test(start_paused = true)]
async fn operations_that_are_joined_do_not_take_from_each_other() {
    // The first is in vain while the other hangs, which is dropped then.
    let a = in_vain_once();
    let b = Script::new([Step::Hang, RESET, RESET, Step::Succeed]);
    let both = async || tokio::try_join!(biased; helper(|| a.play()), helper(|| b.play()));
    around(3, both).await.unwrap();
    assert_eq!([a.calls(), b.calls()], [4 + 1, 1 + 3]);
}

/// `before_retry` is counted by itself, so it does not move the calls of the body.
#[tokio::test(start_paused = true)]
async fn a_call_in_before_retry_is_another_operation_than_the_same_call_in_the_body() {
    #[retry(
        attempts = 3,
        base = "1ms",
        budget = "none",
        before_retry = async || { let _ = get(connection).await; },
    )]
    async fn session(host: &Script, connection: &Script, fails: &Cell<bool>) -> io::Result<usize> {
        if fails.take() {
            return Err(reset());
        }
        get(host).await
    }
    // Also if the body of the attempt before made no call.
    for (fails, of_body) in [(false, 4 + 1 + 1), (true, 4 + 1)] {
        let (host, connection, fails) = (dead(), dead(), Cell::new(fails));
        session(&host, &connection, &fails).await.unwrap_err();
        assert_eq!([host.calls(), connection.calls()], [of_body, 4 + 1]);
    }
}

/// The body goes on where the attempt before failed, with or without progress: the last item is the third operation first,
/// and then the first one.
#[tokio::test(start_paused = true)]
async fn a_loop_that_resumes_makes_the_retries_of_the_failed_item_once_more() {
    for says in [false, true] {
        let items = [[Step::Succeed], [Step::Succeed], [RESET]].map(Script::new);
        let next = Cell::new(0);
        around(3, async || {
            while let Some(item) = items.get(next.get()) {
                get(item).await?;
                next.set(next.get() + 1);
                if says {
                    Attempt::record_progress();
                }
            }
            Ok(())
        })
        .await
        .unwrap_err();
        assert_eq!(items[2].calls(), 4 + 4 + 1, "{says}");
    }
}

/// They remember the most retries, whichever of them made these.
#[tokio::test(start_paused = true)]
async fn from_the_thousandth_call_in_an_attempt_on_all_count_as_one_operation() {
    for (failing, expected) in [
        (999..=1001, [998 + 3 * 4, 1001, 1001]),
        (1000..=1000, [1000 + 4, 1001, 1001]),
    ] {
        let calls = RefCell::new(Vec::new());
        around(3, async || {
            calls.borrow_mut().push(0);
            for item in 1..=1001 {
                let fails = failing.contains(&item);
                let _ = helper(async || {
                    *calls.borrow_mut().last_mut().unwrap() += 1;
                    if fails { Err(reset()) } else { Ok(()) }
                })
                .await;
            }
            io::Result::<()>::Err(reset())
        })
        .await
        .unwrap_err();
        assert_eq!(calls.take(), expected, "{failing:?}");
    }
}

/// What a call of the helper does.
#[derive(Debug, Clone, Copy)]
enum Does {
    Succeeds,
    Fails,
    /// The body drops it after this time.
    Dropped(u64),
}

proptest! {
    /// Each attempt does something else, and fails. The retries of all its calls are at most those of as many operations as
    /// the longest attempt has.
    #[test]
    fn attempts_that_differ_make_no_more_retries_than_the_longest_of_them_would(
        attempts in prop::collection::vec(
            (any::<bool>(), prop::collection::vec(prop_oneof![
                1 => Just(Does::Succeeds), 3 => Just(Does::Fails), 1 => (1_u64..12).prop_map(Does::Dropped),
            ], 1..5)),
            3,
        ),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let (calls, begun, number) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let call = async |does: Does| {
            begun.set(begun.get() + 1);
            let call = helper(async || {
                calls.set(calls.get() + 1);
                match does {
                    Does::Succeeds => Ok(()),
                    Does::Fails => Err(reset()),
                    Does::Dropped(_) => {
                        sleep(ms(1)).await;
                        Err(reset())
                    }
                }
            });
            match does {
                Does::Dropped(after) => timeout(ms(after), call).await.unwrap_or(Err(reset())),
                _ => call.await,
            }
        };
        let ended = runtime.block_on(around(3, async || {
            let (joined, all) = &attempts[number.replace(number.get() + 1)];
            let calls = stream::iter(all).map(|does| call(*does));
            let _: Vec<_> = calls.buffered(if *joined { all.len() } else { 1 }).collect().await;
            io::Result::<()>::Err(reset())
        }));
        prop_assert!(ended.is_err());
        prop_assert_eq!(number.get(), 3);
        let longest = attempts.iter().map(|(_, all)| all.len()).max().unwrap();
        prop_assert!(calls.get() <= begun.get() + 3 * longest, "{} of {}", calls.get(), begun.get());
    }
}

/// The bound does not depend on the names of the other functions that an attempt calls.
#[tokio::test(start_paused = true)]
async fn a_call_that_only_the_first_attempt_makes_does_not_change_the_bound() {
    plays!(price(attempts = 4, base = "1ms", budget = "none"));
    let (lists, prices) = (Script::new([Step::Succeed]), dead());
    let page = around(4, async || {
        if lists.calls() == 0 {
            get(&lists).await?;
        }
        price(&prices).await
    });
    page.await.unwrap_err();
    assert_eq!((lists.calls(), prices.calls()), (1, 4 + 3));
}

/// In a worker that lives long, calls that succeeded do not reduce the retries of later attempts.
#[tokio::test(start_paused = true)]
async fn retries_that_helped_are_available_again_in_every_later_attempt() {
    #[retry(attempts = 30, base = "1ms", max_delay = "1ms", budget = "none")]
    async fn worker(sessions: &Cell<u32>) -> io::Result<()> {
        let host = Script::new([RESET, RESET, RESET, Step::Succeed]);
        assert_eq!(get(&host).await?, 4);
        sessions.set(sessions.get() + 1);
        Err(ErrorKind::ConnectionReset.into())
    }
    let sessions = Cell::new(0);
    worker(&sessions).await.unwrap_err();
    assert_eq!(sessions.get(), 30);
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
    around(2, async || go_on(&kept).await).await.unwrap_err();
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
        six(other).await
    }
    // The call makes two retries in the first attempt. It makes one in the second, and then fails for good.
    let host = Script::new([RESET, RESET, Step::FailAfter(ms(70)), MISSING]);
    let other = Script::new([RESET]);
    let kept = Kept::new(Some(Box::pin(six(&host))));
    thrice(&kept, &other).await.unwrap_err();
    assert_eq!((host.calls(), other.calls()), (4, 6 - 3));
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
    async fn cut(host: &Script, said: &Cell<Option<u32>>) -> io::Result<usize> {
        for_ever(host, said).await
    }
    let said = Cell::new(Some(0));
    let host = Script::new([RESET].repeat(499).into_iter().chain([Step::Succeed]));
    assert_eq!(cut(&host, &said).await.unwrap(), 500);

    // The call is cut after two hundred failed retries. Then it needs fifty more.
    let mut steps = [RESET].repeat(252);
    (steps[200], steps[251]) = (Step::Hang, Step::Succeed);
    let host = Script::new(steps);
    assert_eq!(cut(&host, &said).await.unwrap(), 252);
    assert_eq!(said.get(), None);
}

/// A panic that a body catches drops the call that panicked.
#[tokio::test(start_paused = true)]
async fn a_call_that_panics_passes_on_the_retries_that_it_remembers() {
    let calls = RefCell::new(Vec::new());
    let panics = async || {
        let inner = around(3, async || {
            *calls.borrow_mut().last_mut().unwrap() += 1;
            io::Result::<()>::Err(reset())
        });
        let _ = inner.await;
        panic_any(())
    };
    let outer = around(3, async || {
        calls.borrow_mut().push(0);
        let call = AssertUnwindSafe(around(3, panics)).catch_unwind();
        call.await.unwrap_or(io::Result::<()>::Err(reset()))
    });
    outer.await.unwrap_err();
    assert_eq!(calls.take(), [3, 1, 1]);
}

/// Makes two attempts at `body`, with this wait between them.
#[retry(
    attempts = 2,
    base = wait,
    max_delay = wait,
    backoff = "constant",
    jitter = "none",
    budget = "none"
)]
async fn waits(wait: Duration, body: impl AsyncFn() -> io::Result<usize>) -> io::Result<usize> {
    body().await
}

#[tokio::test(start_paused = true)]
async fn failed_retries_are_forgotten_after_the_functions_own_max_delay() {
    #[retry(attempts = 4, base = "1ms", max_delay = time, budget = "none")]
    async fn remembered(time: Duration, host: &Script) -> io::Result<usize> {
        host.play().await
    }
    let (second, five_minutes) = (ms(1000), ms(300_000));
    for (time, takes, wait, calls) in [
        (second, ms(0), ms(900), 4 + 1),
        (second, ms(0), ms(1100), 4 + 4),
        (second, ms(0), ms(290_000), 4 + 4),
        (second, ms(0), ms(310_000), 4 + 4),
        // From its end, not from its last retry.
        (second, ms(1500), ms(900), 4 + 1),
        (five_minutes, ms(0), ms(900), 4 + 1),
        (five_minutes, ms(0), ms(1100), 4 + 1),
        (five_minutes, ms(0), ms(290_000), 4 + 1),
        (five_minutes, ms(0), ms(310_000), 4 + 4),
    ] {
        let slow = [Step::FailAfter(takes); 4];
        let host = Script::new(slow.into_iter().chain([RESET]));
        let ended = waits(wait, async || remembered(time, &host).await).await;
        ended.unwrap_err();
        assert_eq!(host.calls(), calls, "{time:?}, {takes:?}, {wait:?}");
    }
}

/// The function calls itself, and fails inside. Its outer call succeeds later, which makes no call remember
/// the retries inside for longer.
#[tokio::test(start_paused = true)]
async fn a_call_that_succeeds_does_not_lengthen_the_memory_of_a_call_of_its_function_inside() {
    #[retry(attempts = 4, base = "1ms", max_delay = "1s", budget = "none")]
    async fn visit(depth: u32, host: &Script) -> io::Result<usize> {
        if depth == 0 {
            return host.play().await;
        }
        let inside = Box::pin(visit(depth - 1, host)).await;
        sleep(ms(900)).await;
        inside.or(Ok(0))
    }
    for (wait, calls) in [(ms(50), 4 + 1), (ms(500), 4 + 4)] {
        let host = dead();
        let body = async || visit(1, &host).await.and(Err(reset()));
        waits(wait, body).await.unwrap_err();
        assert_eq!(host.calls(), calls, "{wait:?}");
    }
}

/// Also if calls of the same attempt were counted before.
#[tokio::test(start_paused = true)]
async fn retries_in_a_carried_future_are_not_counted_beside_others() {
    let (host, first) = (dead(), Cell::new(true));
    let ended = around(2, async || {
        get(&Script::new([Step::Succeed])).await?;
        if first.take() {
            propagate(get(&host)).await
        } else {
            get(&host).await
        }
    });
    ended.await.unwrap_err();
    assert_eq!(host.calls(), 4 + 4);
}

/// The first attempt fails in a carried call, the others in one that is not.
#[tokio::test(start_paused = true)]
async fn retries_in_a_carried_future_are_not_counted() {
    let (host, first) = (dead(), Cell::new(true));
    let ended = around(4, async || {
        if first.take() {
            propagate(get(&host)).await
        } else {
            get(&host).await
        }
    });
    ended.await.unwrap_err();
    assert_eq!(host.calls(), 4 + 7 - 1);
}

#[retry(attempts = 2, base = "1ms", budget = "none", nested = "multiply")]
async fn multiplied(body: impl AsyncFn() -> io::Result<usize>) -> io::Result<usize> {
    body().await
}

#[tokio::test(start_paused = true)]
async fn a_carried_future_within_first_attempts_makes_all_its_attempts() {
    let host = dead();
    let inner = async || around(2, async || propagate(get(&host)).await.or(Ok(0))).await;
    around(4, inner).await.unwrap();
    assert_eq!(host.calls(), 4);
    // A call that multiplies hides the later attempts around it, but not its own.
    let (host, attempts) = (dead(), Cell::new(0));
    let outer = async || {
        attempts.set(attempts.get() + 1);
        multiplied(async || propagate(get(&host)).await).await
    };
    around(3, outer).await.unwrap_err();
    assert_eq!((attempts.get(), host.calls()), (3, 3 * (4 + 1)));
}

/// The outer call has made its first attempt then, and no other before the first `before_retry`.
#[tokio::test(start_paused = true)]
async fn a_carried_future_within_a_later_before_retry_has_one_attempt_a_call() {
    #[retry(
        attempts = 4,
        base = "1ms",
        budget = "none",
        before_retry = propagate(async { drop(get(host).await) })
    )]
    async fn carries(host: &Script) -> io::Result<usize> {
        Err(ErrorKind::ConnectionReset.into())
    }
    let host = dead();
    carries(&host).await.unwrap_err();
    assert_eq!(host.calls(), 4 + 1 + 1);
}

/// The body and the hook read the number of attempts that the rule allows.
#[tokio::test(start_paused = true)]
async fn an_event_and_the_attempt_say_how_many_attempts_a_call_may_make_here() {
    type Said = RefCell<Vec<(&'static str, Option<u32>)>>;
    #[retry(
        attempts = 6,
        base = "1ms",
        budget = "none",
        on_retry = |event| said.borrow_mut().push(("event", event.attempts()))
    )]
    async fn inner(host: &Script, said: &Said) -> io::Result<usize> {
        let attempt = Attempt::current().unwrap();
        said.borrow_mut().push(("attempt", attempt.attempts()));
        host.play().await
    }
    #[retry(attempts = 3, base = "1ms", budget = "none", when = |_| true)]
    async fn outer(host: &Script, said: &Said) -> io::Result<usize> {
        assert_eq!(Attempt::current().unwrap().attempts(), Some(3));
        inner(host, said).await
    }
    // The first attempt of `outer` has three failed retries, and the second has one. Two of six attempts are left.
    let host = Script::new([RESET, RESET, RESET, MISSING, RESET, MISSING, MISSING]);
    let said = Said::default();
    outer(&host, &said).await.unwrap_err();
    let mut all = [("attempt", Some(6)), ("event", Some(6))].repeat(4);
    all.pop();
    all.extend(["attempt", "event", "attempt"].map(|who| (who, Some(3))));
    all.push(("attempt", Some(2)));
    assert_eq!(said.into_inner(), all);
}

#[test]
fn each_nesting_is_shown_as_its_word() {
    let words = [Nested::Add, Nested::Multiply, Nested::Outermost].map(|nested| nested.to_string());
    assert_eq!(words, ["add", "multiply", "outermost"]);
}

const MULTIPLIES: Policy = Policy::new()
    .with_attempts(4)
    .with_base(ms(1))
    .without_budget()
    .with_nested(Nested::Multiply);

plays!(constant(policy = MULTIPLIES));
plays!(overridden(policy = MULTIPLIES, nested = "add"));

/// The key `nested` of a function overrides its policy.
#[tokio::test(start_paused = true)]
async fn a_policy_says_how_the_retries_of_functions_and_runs_combine() {
    #[retry(policy = policy)]
    async fn given(policy: Policy, host: &Script) -> io::Result<usize> {
        host.play().await
    }
    let hosts = [dead(), dead(), dead(), dead()];
    let [a, b, c, d] = &hosts;
    around(4, async || constant(a).await).await.unwrap_err();
    let call = around(4, async || given(MULTIPLIES, b).await);
    call.await.unwrap_err();
    let outermost = MULTIPLIES.with_nested(Nested::Outermost);
    let call = around(4, async || outermost.run(|| c.play()).await);
    call.await.unwrap_err();
    around(4, async || overridden(d).await).await.unwrap_err();
    assert_eq!(hosts.map(|host| host.calls()), [16, 16, 4, 7]);
}

plays! { outermost(attempts = 4, base = "1ms", budget = "none", nested = "outermost") }

#[tokio::test(start_paused = true)]
async fn multiply_keeps_all_its_attempts_and_outermost_leaves_them_to_the_call_around() {
    #[retry(attempts = 4, base = "1ms", budget = "none", nested = "multiply")]
    async fn multiplies(body: impl AsyncFn() -> io::Result<usize>) -> io::Result<usize> {
        body().await
    }
    let hosts = [dead(), dead(), dead(), dead()];
    let [a, b, c, d] = &hosts;
    let inner = async || multiplies(async || a.play().await).await;
    around(4, inner).await.unwrap_err();
    // Within a call that multiplies, the inner calls add.
    let inner = async || multiplies(async || get(b).await).await;
    around(4, inner).await.unwrap_err();
    around(4, async || outermost(c).await).await.unwrap_err();
    // The call itself is the outermost, also within a scope.
    outermost(d).await.unwrap_err();
    deadline::scope(ms(60_000), outermost(d)).await.unwrap_err();
    assert_eq!(hosts.map(|host| host.calls()), [16, 4 * 7, 4, 4 + 4]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_says_how_many_attempts_nested_leaves_it() {
    #[retry(attempts = 4, budget = "none", nested = "multiply")]
    async fn multiplies() -> io::Result<Option<u32>> {
        Ok(Attempt::current().unwrap().attempts())
    }
    #[retry(attempts = 4, budget = "none", nested = "outermost")]
    async fn outermost() -> io::Result<Option<u32>> {
        Ok(Attempt::current().unwrap().attempts())
    }
    #[retry(attempts = 2, base = "1ms", budget = "none", when = |_| true)]
    async fn outer(host: &Script) -> io::Result<[Option<u32>; 3]> {
        let _ = get(host).await;
        if Attempt::current().unwrap().number() == 1 {
            return Err(ErrorKind::ConnectionReset.into());
        }
        let own = Attempt::current().unwrap().attempts();
        Ok([own, multiplies().await?, outermost().await?])
    }
    let said = outer(&Script::new([RESET])).await.unwrap();
    assert_eq!(said, [Some(2), Some(4), Some(1)]);
    assert_eq!(outermost().await.unwrap(), Some(4));
}
