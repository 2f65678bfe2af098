//! The frame, driven by a plain loop in place of the state machine of a call.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::future::{FutureExt as _, join, join_all};
use proptest::prelude::*;
use tokio::task::yield_now;

use super::*;
use crate::Outcome;
use crate::deadline::{after, remaining, scope};

/// What the driver below is told, and what it does with it: the loop of a call with no waits.
#[derive(Clone, Copy)]
struct Plan {
    attempts: u32,
    nested: Nested,
    /// The budget refuses each retry.
    refuses: bool,
    deadline: Limit,
    timeout: Limit,
}

const FOUR: Plan = Plan {
    attempts: 4,
    nested: Nested::Add,
    refuses: false,
    deadline: Limit::NONE,
    timeout: Limit::NONE,
};

#[derive(Debug, PartialEq, Eq)]
struct Failed(Outcome);

async fn call<F>(plan: Plan, mut body: impl FnMut() -> F) -> Result<(), Failed>
where
    F: Future<Output = Result<(), Failed>>,
{
    let mut track = Track::default();
    let mut number = 0;
    let outcome = loop {
        number += 1;
        let ended = {
            let mut attempt = pin!(body());
            poll_fn(|waker| {
                let seen = Seen {
                    number,
                    kind: Kind::new(plan.attempts, plan.nested),
                    limits: Some(Own {
                        deadline: plan.deadline,
                        timeout: plan.timeout,
                    }),
                };
                enter(&mut track, seen, || attempt.as_mut().poll(waker))
            })
            .await
        };
        if ended.is_ok() {
            return Ok(());
        }
        if let Some(refusal) = track.refusal() {
            break refusal.outcome();
        }
        if number >= allowed(plan.attempts, plan.nested) {
            break Outcome::AttemptsExhausted;
        }
        if plan.refuses {
            break Outcome::Budget;
        }
        track.turn(Previous::Failed(Verdict::Transient));
    };
    if let Some(refusal) = Refusal::of(outcome) {
        refuse(refusal);
    }
    Err(Failed(outcome))
}

/// Polls a future that only ever yields.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..10_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
    panic!("the future never ends")
}

/// A body that fails, on which `calls` counts; it suspends once, so that frames are swapped.
async fn fails(calls: &Cell<u32>) -> Result<(), Failed> {
    calls.set(calls.get() + 1);
    yield_now().await;
    Err(Failed(Outcome::NotRetryable))
}

/// As many layers as `nested`, each with four attempts, around a body that always fails.
fn layers<'a>(
    nested: &'a [Nested],
    calls: &'a Cell<u32>,
) -> futures::future::LocalBoxFuture<'a, Result<(), Failed>> {
    match nested.split_first() {
        None => fails(calls).boxed_local(),
        Some((first, rest)) => call(
            Plan {
                nested: *first,
                ..FOUR
            },
            move || layers(rest, calls),
        )
        .boxed_local(),
    }
}

fn calls_of(nested: &[Nested]) -> u32 {
    let calls = Cell::new(0);
    let _ = block_on(layers(nested, &calls));
    assert!(Attempt::current().is_none());
    calls.get()
}

#[test]
fn c74_nested_retries_add() {
    assert_eq!(calls_of(&[Nested::Add; 1]), 4);
    assert_eq!(calls_of(&[Nested::Add; 2]), 7);
    assert_eq!(calls_of(&[Nested::Add; 3]), 10);
    // Deeper than levels are told apart: fewer at most, never more.
    assert!((10..=19).contains(&calls_of(&[Nested::Add; 6])));
}

#[test]
fn c74_multiply_opts_out_and_outermost_tries_the_inner_ones_once() {
    assert_eq!(calls_of(&[Nested::Add, Nested::Multiply]), 16);
    assert_eq!(calls_of(&[Nested::Multiply; 3]), 64);
    assert_eq!(calls_of(&[Nested::Add, Nested::Outermost]), 4);
    assert_eq!(calls_of(&[Nested::Outermost; 3]), 4);
    // Within one that multiplies, the inner ones add.
    assert_eq!(calls_of(&[Nested::Add, Nested::Multiply, Nested::Add]), 28);
}

#[test]
fn a_refusal_is_not_retried_further_out() {
    let calls = Cell::new(0);
    let refused = Plan {
        refuses: true,
        ..FOUR
    };
    let ended = block_on(call(FOUR, || {
        call(FOUR, || call(refused, || fails(&calls)))
    }));
    assert_eq!(ended, Err(Failed(Outcome::Budget)));
    assert_eq!(calls.get(), 1);
}

#[test]
fn a_refusal_counts_only_where_the_body_fails_of_it() {
    let refused = Plan {
        refuses: true,
        ..FOUR
    };
    let calls = Cell::new(0);
    let elsewhere = Cell::new(0);
    // The body goes on to another call, and fails of that.
    let ended = block_on(call(FOUR, || async {
        let _ = call(refused, || fails(&elsewhere)).await;
        call(
            Plan {
                attempts: 1,
                ..FOUR
            },
            || fails(&calls),
        )
        .await
    }));
    assert_eq!(ended, Err(Failed(Outcome::AttemptsExhausted)));
    assert_eq!(calls.get(), 4);
    // What one attempt was refused does not stop the next call.
    assert_eq!(calls_of(&[Nested::Add; 2]), 7);
}

#[test]
fn a_refused_sibling_is_remembered_while_the_other_goes_on() {
    let (refused_calls, other_calls) = (Cell::new(0), Cell::new(0));
    let refused = Plan {
        refuses: true,
        ..FOUR
    };
    let ended = block_on(call(FOUR, || async {
        let slow = call(FOUR, || async {
            for _ in 0..5 {
                yield_now().await;
            }
            fails(&other_calls).await
        });
        let (one, other) = join(slow, call(refused, || fails(&refused_calls))).await;
        one.and(other)
    }));
    assert_eq!(ended, Err(Failed(Outcome::Budget)));
    assert_eq!(refused_calls.get(), 1);
    assert_eq!(other_calls.get(), 4);
}

#[test]
fn concurrent_inner_calls_each_make_at_most_seven_calls() {
    let calls: Vec<_> = (0..5).map(|_| Cell::new(0)).collect();
    let ended = block_on(call(FOUR, || async {
        let all = calls.iter().map(|calls| call(FOUR, || fails(calls)));
        join_all(all).await.into_iter().collect()
    }));
    assert!(ended.is_err());
    for calls in &calls {
        assert_eq!(calls.get(), 7);
    }
}

#[test]
fn retries_of_an_attempt_that_was_dropped_are_counted() {
    // The outer attempt is dropped in the middle of the inner call's third attempt, as a timeout
    // would, and its retries show in the second.
    let seen = RefCell::new(Vec::new());
    let inner = || {
        call(FOUR, || async {
            let attempt = Attempt::current().unwrap();
            seen.borrow_mut()
                .push((attempt.number(), attempt.attempts()));
            if attempt.number() < 3 {
                return Err(Failed(Outcome::NotRetryable));
            }
            pending().await
        })
    };
    let mut track = Track::default();
    for number in 1..=2 {
        let seen = Seen {
            number,
            kind: Kind::new(4, Nested::Add),
            limits: None,
        };
        let mut attempt = Box::pin(inner());
        let mut context = Context::from_waker(Waker::noop());
        let polled = enter(&mut track, seen, || attempt.as_mut().poll(&mut context));
        // With two of its three retries spent, the second one ends before it hangs.
        assert_eq!(polled.is_pending(), number == 1);
        drop(attempt);
        track.turn(Previous::TimedOut);
    }
    assert_eq!(*seen.borrow(), [(1, 4), (2, 4), (3, 4), (1, 2), (2, 2)]);
}

#[test]
fn an_attempt_sees_its_number_its_limits_and_what_went_before() {
    let seen = RefCell::new(Vec::new());
    let _ = block_on(call(FOUR, || async {
        let attempt = Attempt::current().unwrap();
        yield_now().await;
        let later = Attempt::current().unwrap();
        assert_eq!(attempt.number(), later.number());
        assert_eq!(attempt.remaining(), None);
        seen.borrow_mut()
            .push((attempt.number(), attempt.attempts(), attempt.previous()));
        Err(Failed(Outcome::NotRetryable))
    }));
    let failed = Some(Previous::Failed(Verdict::Transient));
    assert_eq!(
        *seen.borrow(),
        [(1, 4, None), (2, 4, failed), (3, 4, failed), (4, 4, failed)]
    );
}

#[test]
fn c65_the_idempotency_key_is_the_same_for_every_attempt_and_no_other_call() {
    let keys = RefCell::new(Vec::new());
    let key = || async {
        // Not asked for in the first attempt, and twice in the others.
        let attempt = Attempt::current().unwrap();
        if attempt.number() > 1 {
            keys.borrow_mut().push(attempt.idempotency_key());
            keys.borrow_mut()
                .push(Attempt::current().unwrap().idempotency_key());
        }
        Err(Failed(Outcome::NotRetryable))
    };
    let mut calls = HashSet::new();
    for _ in 0..100 {
        let _ = block_on(call(FOUR, key));
        let keys = keys.take();
        assert_eq!(keys.len(), 6);
        assert!(keys.iter().all(|key| *key == keys[0]));
        calls.insert(keys[0]);
    }
    assert_eq!(calls.len(), 100);
}

#[test]
fn an_idempotency_key_is_a_uuid_of_version_four() {
    let text = RefCell::new(String::new());
    let _ = block_on(call(FOUR, || async {
        *text.borrow_mut() = Attempt::current().unwrap().idempotency_key().to_string();
        Ok(())
    }));
    let text = text.take();
    let parts: Vec<_> = text.split('-').map(str::len).collect();
    assert_eq!(parts, [8, 4, 4, 4, 12], "{text}");
    assert_eq!(&text[14..15], "4", "{text}");
    assert!("89ab".contains(&text[19..20]), "{text}");
}

#[test]
fn keys_of_different_threads_differ() {
    let key = || {
        let key = Cell::new(None);
        let _ = block_on(call(FOUR, || async {
            key.set(Attempt::current().map(|attempt| attempt.idempotency_key()));
            Ok(())
        }));
        key.take().unwrap()
    };
    let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(key)).collect();
    let keys: HashSet<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    assert_eq!(keys.len(), 8);
}

#[test]
fn an_inner_call_has_a_key_of_its_own_and_the_outer_one_keeps_its() {
    let keys = RefCell::new(Vec::new());
    let _ = block_on(call(
        Plan {
            attempts: 1,
            ..FOUR
        },
        || async {
            let outer = Attempt::current().unwrap();
            let _ = call(
                Plan {
                    attempts: 1,
                    ..FOUR
                },
                || async {
                    keys.borrow_mut()
                        .push(Attempt::current().unwrap().idempotency_key());
                    // The copy still speaks of the outer call.
                    keys.borrow_mut().push(outer.idempotency_key());
                    Ok(())
                },
            )
            .await;
            keys.borrow_mut()
                .push(Attempt::current().unwrap().idempotency_key());
            Ok(())
        },
    ));
    let keys = keys.take();
    assert_ne!(keys[0], keys[1]);
    assert_eq!(keys[1], keys[2]);
}

#[test]
fn c30_a_panic_in_the_body_restores_what_lies_around() {
    let ended = block_on(call(FOUR, || async {
        let inner = AssertUnwindSafe(call(FOUR, || async { panic!("in the body") })).catch_unwind();
        assert!(inner.await.is_err());
        assert_eq!(Attempt::current().unwrap().attempts(), 4);
        Ok(())
    }));
    assert_eq!(ended, Ok(()));
    assert!(catch_unwind(|| block_on(call(FOUR, || async { panic!("in the body") }))).is_err());
    assert!(Attempt::current().is_none());
}

#[tokio::test(start_paused = true)]
async fn c75_an_inner_call_inherits_the_nearer_deadline() {
    let far = Limit::after(None, Some(Duration::from_secs(60)));
    let near = Limit::after(None, Some(Duration::from_secs(2)));
    for (outer, inner) in [(far, near), (near, far), (near, Limit::NONE)] {
        let _ = call(
            Plan {
                deadline: outer,
                ..FOUR
            },
            || async move {
                call(
                    Plan {
                        deadline: inner,
                        ..FOUR
                    },
                    || async {
                        assert_eq!(
                            Attempt::current().unwrap().remaining(),
                            Some(Duration::from_secs(2))
                        );
                        assert_eq!(deadline(), Some(Instant::now() + Duration::from_secs(2)));
                        Ok(())
                    },
                )
                .await
            },
        )
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_bounds_what_remains_but_is_not_inherited_as_a_deadline() {
    let timeout = Limit::after(None, Some(Duration::from_secs(1)));
    let deadline_of = Limit::after(None, Some(Duration::from_secs(5)));
    let _ = call(
        Plan {
            deadline: deadline_of,
            timeout,
            ..FOUR
        },
        || async {
            assert_eq!(remaining(), Some(Duration::from_secs(1)));
            assert_eq!(deadline(), Some(Instant::now() + Duration::from_secs(5)));
            Ok(())
        },
    )
    .await;
    assert_eq!(remaining(), None);
}

#[tokio::test(start_paused = true)]
async fn a_scope_is_a_deadline_and_no_attempt() {
    scope(after(Duration::from_secs(3)), async {
        assert!(Attempt::current().is_none());
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(remaining(), Some(Duration::from_secs(2)));
        scope(after(Duration::from_secs(60)), async {
            assert_eq!(remaining(), Some(Duration::from_secs(2)));
        })
        .await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(remaining(), Some(Duration::ZERO));
    })
    .await;
    assert_eq!(remaining(), None);
}

#[test]
fn a_scope_within_an_attempt_hides_nothing() {
    let key = Cell::new(None);
    let inner_calls = Cell::new(0);
    let refused = Plan {
        refuses: true,
        ..FOUR
    };
    let ended = block_on(call(FOUR, || {
        scope(after(Duration::from_secs(3)), async {
            let here = Attempt::current().unwrap();
            assert!(here.remaining() <= Some(Duration::from_secs(3)));
            key.set(Some(here.idempotency_key()));
            call(refused, || fails(&inner_calls)).await
        })
    }));
    // The refusal went through the scope.
    assert_eq!(ended, Err(Failed(Outcome::Budget)));
    assert_eq!(inner_calls.get(), 1);
}

#[tokio::test]
async fn a_spawned_task_is_outside_unless_the_attempt_is_carried_into_it() {
    let deadline = Limit::after(None, Some(Duration::from_secs(60)));
    let _ = call(Plan { deadline, ..FOUR }, || async {
        let here = Attempt::current().unwrap();
        tokio::spawn(async { assert!(Attempt::current().is_none()) })
            .await
            .unwrap();
        let there = tokio::spawn(propagate(async {
            yield_now().await;
            Attempt::current().unwrap()
        }));
        let there = there.await.unwrap();
        assert_eq!(there.number(), here.number());
        assert_eq!(there.idempotency_key(), here.idempotency_key());
        assert!(there.remaining() <= Some(Duration::from_secs(60)));
        if here.number() < 3 {
            Err(Failed(Outcome::NotRetryable))
        } else {
            Ok(())
        }
    })
    .await;
}

#[test]
fn c74_calls_in_tasks_of_their_own_add_too() {
    let calls = Cell::new(0);
    let _ = block_on(call(FOUR, || async {
        propagate(call(FOUR, || fails(&calls))).await
    }));
    assert_eq!(calls.get(), 7);
    let calls = Cell::new(0);
    let _ = block_on(call(FOUR, || {
        call(FOUR, || async {
            propagate(call(FOUR, || fails(&calls))).await
        })
    }));
    assert_eq!(calls.get(), 10);
}

/// On which the shortcut of `enter` relies, here after everything that could leave something behind.
#[test]
fn outside_is_empty() {
    assert!(kept::is_outside());
    let refused = Plan {
        refuses: true,
        ..FOUR
    };
    let deadline = Limit::after(None, Some(Duration::from_secs(60)));
    let calls = Cell::new(0);
    for nested in [Nested::Add, Nested::Multiply, Nested::Outermost] {
        let _ = block_on(call(
            Plan {
                nested,
                deadline,
                ..FOUR
            },
            || async {
                let _ = Attempt::current().unwrap().idempotency_key();
                let _ = call(Plan { nested, ..FOUR }, || fails(&calls)).await;
                let _ = call(refused, || fails(&calls)).await;
                propagate(scope(after(Duration::ZERO), fails(&calls))).await
            },
        ));
        assert!(kept::is_outside(), "{nested}");
    }
    // A refusal that nobody is there to hear.
    refuse(Refusal::Budget);
    assert!(kept::is_outside());
}

/// A tree of calls: attempts of this one, then the calls that each attempt makes.
#[derive(Debug, Clone)]
struct Tree {
    attempts: u32,
    inner: Vec<Tree>,
    concurrent: bool,
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = (1..6_u32).prop_map(|attempts| Tree {
        attempts,
        inner: vec![],
        concurrent: false,
    });
    leaf.prop_recursive(3, 12, 3, |inner| {
        (1..6_u32, prop::collection::vec(inner, 1..3), any::<bool>()).prop_map(
            |(attempts, inner, concurrent)| Tree {
                attempts,
                inner,
                concurrent,
            },
        )
    })
}

/// Calls the tree, in which everything fails, and counts the attempts of each node by its path.
fn run<'a>(
    tree: &'a Tree,
    path: String,
    counts: &'a RefCell<std::collections::HashMap<String, u32>>,
) -> futures::future::LocalBoxFuture<'a, Result<(), Failed>> {
    call(
        Plan {
            attempts: tree.attempts,
            ..FOUR
        },
        move || {
            *counts.borrow_mut().entry(path.clone()).or_default() += 1;
            let inner: Vec<_> = tree
                .inner
                .iter()
                .enumerate()
                .map(|(index, inner)| run(inner, format!("{path}/{index}"), counts))
                .collect();
            async move {
                yield_now().await;
                if tree.concurrent {
                    join_all(inner).await;
                } else {
                    for inner in inner {
                        let _ = inner.await;
                    }
                }
                Err(Failed(Outcome::NotRetryable))
            }
        },
    )
    .boxed_local()
}

fn bounds(tree: &Tree, path: &str, around: u32, check: &mut impl FnMut(&str, u32)) {
    let most = around + tree.attempts - 1;
    check(path, most);
    for (index, inner) in tree.inner.iter().enumerate() {
        bounds(inner, &format!("{path}/{index}"), most, check);
    }
}

proptest! {
    #[test]
    fn whatever_calls_whatever_no_chain_makes_more_calls_than_the_sum(tree in tree()) {
        let counts = RefCell::default();
        let _ = block_on(run(&tree, String::new(), &counts));
        let counts = counts.into_inner();
        let mut failed = None;
        bounds(&tree, "", 1, &mut |path, most| {
            let made = counts.get(path).copied().unwrap_or(0);
            if made == 0 || made > most {
                failed = Some((path.to_owned(), made, most));
            }
        });
        prop_assert_eq!(failed, None);
    }
}
