//! Annotated functions in unexpected places, and futures that move between threads.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use reattempt::{Attempt, deadline, propagate, retry};

use crate::script::{RESET, Script, Step, ms, run};

fn number() -> Option<u32> {
    Attempt::current().map(|attempt| attempt.number())
}

fn is_outside() -> bool {
    number().is_none() && deadline::remaining().is_none()
}

#[retry(attempts = 2, base = "0ms", budget = "none")]
async fn quick(calls: &Cell<u32>) -> io::Result<u32> {
    calls.set(calls.get() + 1);
    assert!(number().is_some());
    Err(io::ErrorKind::ConnectionReset.into())
}

/// Calls come from a rule, from a hook, from the drop of a value of an attempt, and from the `cancel` future.
#[test]
fn an_annotated_function_may_be_called_from_anywhere() {
    struct Calls<'c>(&'c Cell<u32>);
    impl Drop for Calls<'_> {
        fn drop(&mut self) {
            let _ = run(quick(self.0));
        }
    }
    #[retry(
        attempts = 3,
        base = "0ms",
        budget = "none",
        when = |_| run(quick(calls)).is_err(),
        on_retry = |_| { let _ = run(quick(calls)); },
        cancel = async { let _ = quick(calls).await; std::future::pending::<()>().await },
        before_retry = async || { let _ = quick(calls).await; },
    )]
    async fn call(calls: &Cell<u32>, numbers: &Cell<Vec<u32>>) -> io::Result<()> {
        let _calls = Calls(calls);
        let mut seen = numbers.take();
        seen.extend(number());
        numbers.set(seen);
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let (calls, numbers) = (Cell::new(0), Cell::default());
    assert!(run(call(&calls, &numbers)).is_err());
    assert_eq!(numbers.take(), [1, 2, 3]);
    assert!(is_outside());
    assert!(calls.get() > 10, "{}", calls.get());
}

/// A body drops another call in the middle of its own poll, and keeps its own attempt.
#[tokio::test(start_paused = true)]
async fn a_call_dropped_within_a_poll_leaves_the_attempt_alone() {
    plays!(inner(attempts = 3, timeout = "5s", budget = "none"));
    #[retry(attempts = 2, base = "1ms", deadline = "60s", budget = "none")]
    async fn outer(script: &Script, kept: &Cell<Option<String>>) -> io::Result<usize> {
        let key = || Attempt::current().unwrap().idempotency_key().to_string();
        let mine = key();
        let mut dropped = Box::pin(inner(script));
        assert!(futures::poll!(&mut dropped).is_pending());
        drop(dropped);
        assert_eq!(key(), mine);
        tokio::select! {
            _ = inner(script) => {}
            () = tokio::time::sleep(ms(1)) => {}
        }
        assert_eq!(key(), mine);
        let was = kept.replace(Some(mine.clone()));
        assert!(was.is_none_or(|was| was == mine));
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let script = Script::new([Step::Hang]);
    outer(&script, &Cell::new(None)).await.unwrap_err();
    assert_eq!(script.calls(), 4);
    assert!(is_outside());
}

/// The caller catches a panic of a poll. The next call on the thread finds no frame of the first call.
#[tokio::test(start_paused = true)]
async fn after_a_panic_that_is_caught_the_thread_is_as_before() {
    #[retry(attempts = 3, deadline = "9s", budget = "none")]
    async fn inner(deep: bool) -> io::Result<()> {
        let _named = Attempt::current().unwrap().idempotency_key();
        tokio::task::yield_now().await;
        assert!(!deep, "out of luck");
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(attempts = 3, base = "1ms", deadline = "9s", budget = "none")]
    async fn outer(deep: bool) -> io::Result<()> {
        let caught = std::panic::AssertUnwindSafe(inner(deep))
            .catch_unwind()
            .await;
        assert_eq!(number(), Some(Attempt::current().unwrap().number()));
        assert_eq!(caught.is_err(), deep);
        assert!(!deep || number() != Some(2), "out of luck again");
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let ended = std::panic::AssertUnwindSafe(outer(true))
        .catch_unwind()
        .await;
    assert!(ended.is_err());
    assert!(is_outside());
    outer(false).await.unwrap_err();
    assert!(is_outside());
}

/// One thread polls the call, a second thread polls it again, and a third thread drops it.
#[test]
fn a_call_that_moves_between_threads_leaves_nothing_on_any() {
    #[retry(attempts = 3, base = "0ms", deadline = "60s", budget = "none")]
    async fn call(keys: &std::sync::Mutex<Vec<String>>) -> io::Result<()> {
        let key = || Attempt::current().unwrap().idempotency_key().to_string();
        let before = key();
        std::future::poll_fn({
            let mut polls = 0;
            move |_| {
                polls += 1;
                assert!(number().is_some());
                if polls < 3 {
                    Poll::Pending
                } else {
                    Poll::Ready(())
                }
            }
        })
        .await;
        assert_eq!(key(), before);
        keys.lock().unwrap().push(before);
        Err(io::ErrorKind::ConnectionReset.into())
    }
    type Ending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let keys = Arc::new(std::sync::Mutex::default());
    for polls in 0..12 {
        let mut future: Option<Ending> = Some(Box::pin({
            let keys = Arc::clone(&keys);
            async move { call(&keys).await }
        }));
        for _ in 0..polls {
            let handle = runtime.handle().clone();
            let Some(mut moved) = future.take() else {
                break;
            };
            future = std::thread::spawn(move || {
                let _in = handle.enter();
                let mut context = Context::from_waker(std::task::Waker::noop());
                let ended = moved.as_mut().poll(&mut context).is_ready();
                assert!(is_outside());
                (!ended).then_some(moved)
            })
            .join()
            .unwrap();
        }
        std::thread::spawn(move || {
            drop(future);
            assert!(is_outside());
        })
        .join()
        .unwrap();
    }
    assert!(is_outside());
    assert!(keys.lock().unwrap().len() > 10);
}

/// Each of many tasks on several threads has its own numbers and its own key.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_of_several_threads_do_not_see_each_other() {
    #[retry(attempts = 3, base = "0ms", deadline = "60s", budget = "none")]
    async fn call(task: u32, seen: &std::sync::Mutex<Vec<(u32, String)>>) -> io::Result<u32> {
        let see = || {
            let attempt = Attempt::current().unwrap();
            (attempt.number(), attempt.idempotency_key().to_string())
        };
        let mine = see();
        for _ in 0..5 {
            tokio::task::yield_now().await;
            assert_eq!(see(), mine);
        }
        tokio::task::block_in_place(|| assert_eq!(see(), mine));
        seen.lock().unwrap().push(mine);
        if task % 2 == 0 {
            quick_send().await?;
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(attempts = 2, base = "0ms", budget = "none")]
    async fn quick_send() -> io::Result<()> {
        tokio::task::yield_now().await;
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let tasks = (0..200).map(|task| {
        tokio::spawn(async move {
            let seen = std::sync::Mutex::default();
            call(task, &seen).await.unwrap_err();
            assert!(is_outside());
            let seen = seen.into_inner().unwrap();
            assert_eq!(
                seen.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
                [1, 2, 3]
            );
            assert!(seen.iter().all(|(_, key)| *key == seen[0].1));
            seen[0].1.clone()
        })
    });
    let keys = futures::future::join_all(tasks).await;
    let keys: std::collections::HashSet<_> = keys.into_iter().map(Result::unwrap).collect();
    assert_eq!(keys.len(), 200);
}

/// One attempt polls several calls in turns, and also without a wake-up.
#[tokio::test(start_paused = true)]
async fn calls_in_a_set_of_futures_keep_their_own_attempts() {
    #[retry(attempts = 3, base = "5ms", jitter = "none", budget = "none")]
    async fn inner(n: u64) -> io::Result<()> {
        let mine = number();
        for _ in 0..n % 4 {
            tokio::time::sleep(ms(n % 3 + 1)).await;
            assert_eq!(number(), mine);
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(attempts = 2, base = "1ms", deadline = "60s", budget = "none")]
    async fn outer() -> io::Result<()> {
        let mine = number();
        let mut set: FuturesUnordered<_> = (0..50).map(inner).collect();
        while let Some(ended) = set.next().await {
            assert!(ended.is_err());
            assert_eq!(number(), mine);
            // This poll has no wake-up.
            assert!(!matches!(
                futures::poll!(set.next()),
                Poll::Ready(Some(Ok(())))
            ));
            assert_eq!(number(), mine);
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }
    outer().await.unwrap_err();
    assert!(is_outside());
}

/// An attempt is carried twice, and polled after the attempt and the call are over.
#[tokio::test(start_paused = true)]
async fn a_carried_attempt_outlives_its_call() {
    type Carried = Pin<Box<dyn Future<Output = (Option<u32>, Option<Duration>)> + Send>>;
    #[retry(
        attempts = 2,
        base = "1s",
        jitter = "none",
        deadline = "5s",
        budget = "none"
    )]
    async fn call(carried: &std::sync::Mutex<Vec<Carried>>) -> io::Result<()> {
        carried
            .lock()
            .unwrap()
            .push(Box::pin(propagate(propagate(async {
                tokio::task::yield_now().await;
                (number(), deadline::remaining())
            }))));
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let carried = std::sync::Mutex::default();
    call(&carried).await.unwrap_err();
    tokio::time::advance(ms(1000)).await;
    let carried = carried.into_inner().unwrap();
    let seen = futures::future::join_all(carried).await;
    assert_eq!(seen, [(Some(1), Some(ms(3000))), (Some(2), Some(ms(3000)))]);
    assert!(is_outside());
}

/// Retries add at every depth of a recursion through annotated functions.
#[test]
fn recursion_two_hundred_deep_adds() {
    fn boxed(depth: u32, calls: &Cell<u32>) -> Pin<Box<dyn Future<Output = io::Result<()>> + '_>> {
        Box::pin(deep(depth, calls))
    }
    #[retry(attempts = 3, base = "1ms", budget = "none")]
    async fn deep(depth: u32, calls: &Cell<u32>) -> io::Result<()> {
        if depth == 0 {
            calls.set(calls.get() + 1);
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        boxed(depth - 1, calls).await
    }
    // A debug build needs some kilobytes of stack for each level.
    let calls = std::thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(|| {
            let calls = Cell::new(0);
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .unwrap();
            runtime.block_on(boxed(200, &calls)).unwrap_err();
            assert!(is_outside());
            calls.get()
        })
        .unwrap()
        .join()
        .unwrap();
    assert!((3..=1 + 2 * 201).contains(&calls), "{calls}");
}

/// A scope whose deadline is long past ends retries. The first attempt of a function without limits still runs.
#[tokio::test(start_paused = true)]
async fn a_scope_long_past_is_a_deadline_that_is_over() {
    #[retry(attempts = 3, budget = "none")]
    async fn call(script: &Script) -> io::Result<usize> {
        assert_eq!(deadline::remaining(), Some(Duration::ZERO));
        script.play().await
    }
    tokio::time::advance(Duration::from_secs(86_400)).await;
    let now = tokio::time::Instant::now();
    let past = now.checked_sub(Duration::from_secs(86_000)).unwrap();
    let script = Script::new([RESET]);
    deadline::scope_at(past, call(&script)).await.unwrap_err();
    assert_eq!(script.calls(), 1);
}
