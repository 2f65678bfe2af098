//! Dropping a call ends it at once, and a panic reaches the caller.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use reattempt::retry;

use crate::script::{RESET, Script, Step, ms};

plays! { call(attempts = 5, timeout = "1s", base = "1s", backoff = "constant", jitter = "none") }

#[tokio::test(start_paused = true)]
async fn dropping_the_future_ends_the_attempt() {
    /// Counts how many values of this type are alive.
    struct Alive(Arc<AtomicU32>);
    impl Alive {
        fn new(count: &Arc<AtomicU32>) -> Self {
            count.fetch_add(1, Ordering::Relaxed);
            Self(count.clone())
        }
    }
    impl Drop for Alive {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    #[retry(attempts = 3, timeout = "60s")]
    async fn hold(count: &Arc<AtomicU32>) -> io::Result<()> {
        let _alive = Alive::new(count);
        std::future::pending().await
    }
    let count = Arc::new(AtomicU32::new(0));
    let mut future = Box::pin(hold(&count));
    assert!(futures::poll!(&mut future).is_pending());
    assert_eq!(count.load(Ordering::Relaxed), 1);
    drop(future);
    assert_eq!(count.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn aborting_the_task_ends_the_call_at_any_moment() {
    for abort_at in (0..4000).step_by(250) {
        let script = Arc::new(Script::new([RESET, Step::FailAfter(ms(300)), Step::Hang]));
        let task = tokio::spawn({
            let script = script.clone();
            async move { call(&script).await }
        });
        tokio::time::sleep(ms(abort_at)).await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        let calls = script.calls();
        tokio::time::sleep(ms(60_000)).await;
        assert_eq!(script.calls(), calls);
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_never_retried() {
    #[retry]
    async fn panics(calls: &AtomicU32) -> io::Result<()> {
        calls.fetch_add(1, Ordering::Relaxed);
        panic!("out of luck")
    }
    let calls = Arc::new(AtomicU32::new(0));
    let ended = tokio::spawn({
        let calls = calls.clone();
        async move { panics(&calls).await }
    })
    .await;
    let panic = ended.unwrap_err().into_panic();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"out of luck"));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_rule_reaches_the_caller_and_the_next_call_works() {
    plays! { asks(when = |error| if error.kind() == io::ErrorKind::NotFound { panic!("rule") } else { true }) }
    let panicking = tokio::spawn(async {
        let script = Script::new([Step::Fail(io::ErrorKind::NotFound)]);
        asks(&script).await
    });
    assert!(panicking.await.unwrap_err().is_panic());
    let script = Script::new([RESET, Step::Succeed]);
    assert_eq!(asks(&script).await.unwrap(), 2);
}
