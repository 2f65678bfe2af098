//! What was retried in vain is remembered for the operation: for the first call of a helper, and not for its second.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::task::Poll;

use futures::future::join_all;
use futures::stream::{self, StreamExt, TryStreamExt};
use proptest::prelude::*;
use reattempt::{Attempt, Policy, retry};
use tokio::time::{sleep, timeout};

use crate::script::{RESET, Script, Step, ms};

/// The outer call: makes three attempts at `body`.
#[retry(attempts = 3, base = "1ms", budget = "none")]
async fn around<T>(mut body: impl AsyncFnMut() -> io::Result<T>) -> io::Result<T> {
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

#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn get(host: &Script) -> io::Result<usize> {
    host.play().await
}

fn reset() -> io::Error {
    ErrorKind::ConnectionReset.into()
}

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
    let ended = around(async || {
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
    let ended = around(async || {
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
    let ended = around(async || {
        get(&first).await?;
        get(&second).await
    });
    ended.await.unwrap();
    assert_eq!([first.calls(), second.calls()], [1 + 3, 4 + 1]);
}

#[tokio::test(start_paused = true)]
async fn runs_with_two_names_at_one_place_do_not_take_from_each_other() {
    let (a, b) = (in_vain_once(), third_time());
    let ended = around(async || {
        run_helper("a", || a.play()).await?;
        run_helper("b", || b.play()).await
    });
    ended.await.unwrap();
    assert_eq!([a.calls(), b.calls()], BOTH);

    // A name tells operations apart that are never made in the same attempt.
    let (a, b) = (in_vain_once(), third_time());
    let ended = around(async || match Attempt::current().unwrap().number() {
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
    let ended = around(async || {
        helper(|| a.play()).await?; helper(|| b.play()).await
    });
    ended.await.unwrap();
    assert_eq!([a.calls(), b.calls()], BOTH);

    let (a, b) = (in_vain_once(), third_time());
    let ended = around(async || {
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
    let ended = around(async || tokio::try_join!(biased; helper(|| a.play()), helper(|| b.play())));
    ended.await.unwrap();
    assert_eq!([a.calls(), b.calls()], [4 + 1, 1 + 3]);

    let (a, b) = (in_vain_once(), Script::new([RESET]));
    around(async || {
        let (first, second) = tokio::join!(helper(|| a.play()), helper(|| b.play()));
        first.and(second)
    })
    .await
    .unwrap_err();
    assert_eq!([a.calls(), b.calls()], [4 + 1 + 1, 4 + 1 + 1]);
}

/// Each operation of an outage makes one call in each attempt, and its retries once: 4 + 1 + 1.
#[tokio::test(start_paused = true)]
async fn the_retries_of_each_operation_still_add() {
    let (a, b) = (dead(), dead());
    around(async || {
        let _ = helper(|| a.play()).await;
        helper(|| b.play()).await
    })
    .await
    .unwrap_err();
    assert_eq!([a.calls(), b.calls()], [6, 6]);

    let hosts: Vec<_> = (0..20).map(|_| dead()).collect();
    around(async || {
        let calls = stream::iter(&hosts).map(get).buffer_unordered(3);
        let ended: Vec<_> = calls.collect().await;
        ended.into_iter().collect::<io::Result<Vec<_>>>()
    })
    .await
    .unwrap_err();
    assert!(hosts.iter().all(|host| host.calls() == 6));

    let hosts: Vec<_> = (0..20).map(|_| dead()).collect();
    around(async || join_all(hosts.iter().map(get)).await.into_iter().collect())
        .await
        .map(|_: Vec<usize>| ())
        .unwrap_err();
    assert!(hosts.iter().all(|host| host.calls() == 6));

    // An error drops the other calls.
    let hosts: Vec<_> = (0..20).map(|_| dead()).collect();
    around(async || {
        let calls = stream::iter(hosts.iter().map(Ok));
        calls
            .try_for_each_concurrent(3, async |host| get(host).await.map(|_| ()))
            .await
    })
    .await
    .unwrap_err();
    assert!(hosts.iter().all(|host| host.calls() <= 6));
}

/// A helper within a helper: an operation is found by its path. The first attempt drops the call in the middle after each
/// number of polls, so at each of its awaits.
#[tokio::test(start_paused = true)]
async fn retries_of_two_operations_in_three_layers_add_wherever_an_attempt_is_dropped() {
    for polls in 1..=40_u32 {
        let hosts = [dead(), dead()];
        let first = Cell::new(true);
        let ended = around(async || {
            let mut call = Box::pin(helper(async || {
                let _ = helper(|| hosts[0].play()).await;
                helper(|| hosts[1].play()).await
            }));
            let mut left = if first.take() { polls } else { u32::MAX };
            poll_fn(|context| {
                left -= 1;
                match call.as_mut().poll(context) {
                    Poll::Pending if left == 0 => Poll::Ready(Err(reset())),
                    polled => polled,
                }
            })
            .await
        });
        ended.await.unwrap_err();
        let calls = hosts.map(|host| host.calls());
        // One call, and the retries of three, four and four attempts.
        let sum = 1 + 2 + 3 + 3;
        assert!(
            calls.iter().all(|calls| *calls <= sum),
            "{polls}: {calls:?}"
        );
        if polls == 40 {
            assert_eq!(calls, [sum; 2], "nothing is dropped");
        }
    }
}

/// Two helpers call one function, which are two operations.
#[tokio::test(start_paused = true)]
async fn a_call_within_one_operation_does_not_take_from_a_call_within_another() {
    #[retry(attempts = 1, budget = "none")]
    async fn once(host: &Script) -> io::Result<usize> {
        get(host).await
    }
    let (a, b) = (in_vain_once(), third_time());
    let ended = around(async || {
        once(&a).await?;
        once(&b).await
    });
    ended.await.unwrap();
    assert_eq!([a.calls(), b.calls()], BOTH);
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
    async fn session(host: &Script, connection: &Script) -> io::Result<usize> {
        get(host).await
    }
    let (host, connection) = (dead(), dead());
    session(&host, &connection).await.unwrap_err();
    assert_eq!([host.calls(), connection.calls()], [4 + 1 + 1, 4 + 1]);
}

/// The body goes on where the attempt before failed, with or without progress: the last item is the third operation first,
/// and then the first one.
#[tokio::test(start_paused = true)]
async fn a_loop_that_resumes_makes_the_retries_of_the_failed_item_once_more() {
    for says in [false, true] {
        let items = [
            Script::new([Step::Succeed]),
            Script::new([Step::Succeed]),
            dead(),
        ];
        let next = Cell::new(0);
        around(async || {
            while let Some(item) = items.get(next.get()) {
                get(item).await?;
                next.set(next.get() + 1);
                if says {
                    Attempt::progress();
                }
            }
            Ok(())
        })
        .await
        .unwrap_err();
        assert_eq!(items[2].calls(), 4 + 4 + 1, "{says}");
    }
}

#[tokio::test(start_paused = true)]
async fn from_the_thousandth_call_in_an_attempt_on_all_count_as_one_operation() {
    let calls = RefCell::new(Vec::new());
    around(async || {
        calls.borrow_mut().push(0);
        for item in 1..=1001 {
            let _ = helper(async || {
                *calls.borrow_mut().last_mut().unwrap() += 1;
                if item < 999 { Ok(()) } else { Err(reset()) }
            })
            .await;
        }
        io::Result::<()>::Err(reset())
    })
    .await
    .unwrap_err();
    assert_eq!(calls.take(), [998 + 3 * 4, 1001, 1001]);
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
        let ended = runtime.block_on(around(async || {
            let (joined, all) = &attempts[number.replace(number.get() + 1)];
            if *joined {
                join_all(all.iter().copied().map(&call)).await;
            } else {
                for does in all {
                    let _ = call(*does).await;
                }
            }
            io::Result::<()>::Err(reset())
        }));
        prop_assert!(ended.is_err());
        prop_assert_eq!(number.get(), 3);
        let longest = attempts.iter().map(|(_, all)| all.len()).max().unwrap();
        prop_assert!(calls.get() <= begun.get() + 3 * longest, "{} of {}", calls.get(), begun.get());
    }
}

plays!(list(
    attempts = 4,
    base = "1ms",
    jitter = "none",
    budget = "none",
    name = "nesting::list"
));

plays!(price(
    attempts = 4,
    base = "1ms",
    jitter = "none",
    budget = "none",
    name = "nesting::price"
));

/// The bound does not depend on the names of the other functions that an attempt calls.
#[tokio::test(start_paused = true)]
async fn a_call_that_only_the_first_attempt_makes_does_not_change_the_bound() {
    #[retry(attempts = 4, base = "1ms", jitter = "none", budget = "none")]
    async fn page(lists: &Script, prices: &Script) -> io::Result<usize> {
        if lists.calls() == 0 {
            list(lists).await?;
        }
        price(prices).await
    }
    let (lists, prices) = (Script::new([Step::Succeed]), dead());
    page(&lists, &prices).await.unwrap_err();
    assert_eq!((lists.calls(), prices.calls()), (1, 4 + 3));
}
