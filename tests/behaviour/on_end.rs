//! Each call that began runs its `on_end` hook once, however the call ends.

use std::cell::Cell;
use std::future::Pending;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use reattempt::{Budget, Outcome, Report, Stopped, retry, with_report};
use tokio::time::timeout;

use crate::script::{RESET, Script, Step, ms};

#[derive(Default)]
struct Ends(Mutex<Vec<Report>>);

impl Ends {
    fn hear(&self, report: &Report) {
        self.0.lock().unwrap().push(report.clone());
    }

    /// The outcome and the attempts of each call.
    fn all(&self) -> Vec<(Outcome, u32)> {
        let ends = self.0.lock().unwrap();
        ends.iter()
            .map(|report| (report.outcome(), report.attempts()))
            .collect()
    }
}

#[retry(attempts = 3, base = "100ms", jitter = "none", on = "io::Error", on_end = |report| ends.hear(report))]
async fn play(script: &Script, ends: &Ends) -> io::Result<usize> {
    script.play().await
}

#[tokio::test(start_paused = true)]
async fn it_receives_reports_of_success_of_failure_and_of_a_dropped_call() {
    let ends = Ends::default();
    play(&Script::new([Step::Succeed]), &ends).await.unwrap();
    play(&Script::new([RESET, Step::Succeed]), &ends)
        .await
        .unwrap();
    play(&Script::new([RESET]), &ends).await.unwrap_err();
    let hangs = Script::new([RESET, Step::Hang]);
    timeout(ms(500), play(&hangs, &ends)).await.unwrap_err();
    drop(play(&hangs, &ends));
    assert_eq!(
        ends.all(),
        [
            (Outcome::Success, 1),
            (Outcome::SuccessAfterRetry, 2),
            (Outcome::AttemptsExhausted, 3),
            (Outcome::Dropped, 2),
        ]
    );
    let ends = ends.0.into_inner().unwrap();
    assert_eq!(ends[3].waited(), ms(100));
    assert_eq!(ends[3].elapsed(), ms(500));
}

#[tokio::test(start_paused = true)]
async fn it_receives_the_report_that_observe_receives() {
    let ends = Ends::default();
    let (_, report) = with_report(play(&Script::new([RESET]), &ends)).await;
    assert_eq!(*ends.0.lock().unwrap(), [report.unwrap()]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_panics_before_its_first_attempt_reports_none() {
    #[retry(attempts = 3, on = "io::Error", cancel = no_future(), on_end = |report| ends.hear(report))]
    async fn panics(ends: &Ends) -> io::Result<()> {
        Ok(())
    }

    fn no_future() -> Pending<()> {
        panic!("made none")
    }

    let ends = Ends::default();
    let panic = AssertUnwindSafe(panics(&ends)).catch_unwind().await;
    assert!(panic.is_err());
    assert_eq!(ends.all(), [(Outcome::Dropped, 0)]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_body_is_a_dropped_call() {
    #[retry(attempts = 3, on = "io::Error", on_end = |report| ends.hear(report))]
    async fn panics(ends: &Ends) -> io::Result<()> {
        panic!("in the body")
    }
    let ends = Ends::default();
    AssertUnwindSafe(panics(&ends))
        .catch_unwind()
        .await
        .unwrap_err();
    assert_eq!(ends.all(), [(Outcome::Dropped, 1)]);
}

/// An error may hold a connection or a permit.
#[tokio::test(start_paused = true)]
async fn the_error_that_a_call_keeps_is_dropped_before_the_hook() {
    #[derive(Debug, thiserror::Error)]
    #[error("held")]
    struct Held(Arc<()>);

    impl From<Stopped> for Held {
        fn from(_: Stopped) -> Self {
            Self(Arc::default())
        }
    }

    #[retry(timeout = "1s", base = "1s", jitter = "none", when = |_| true, on_end = |_| held.set(Arc::strong_count(permit)))]
    async fn keeps(permit: &Arc<()>, held: &Cell<usize>) -> Result<(), Held> {
        Err(Held(Arc::clone(permit)))
    }

    let (permit, held) = (Arc::default(), Cell::new(0));
    let dropped_in_the_wait = timeout(ms(500), keeps(&permit, &held)).await;
    assert!(dropped_in_the_wait.is_err());
    assert_eq!(held.get(), 1);
}

/// A second panic during the unwinding of the first panic would abort the process.
#[tokio::test(start_paused = true)]
async fn a_panic_of_the_hook_after_a_panic_of_the_body_does_not_abort_the_process() {
    #[retry(attempts = 3, on = "io::Error", on_end = |_| panic!("in the hook"))]
    async fn panics() -> io::Result<()> {
        panic!("in the body")
    }
    let panic = AssertUnwindSafe(panics()).catch_unwind().await.unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"in the body"));
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_leaves_budget_and_context_as_they_should_be() {
    static BUDGET: Budget = Budget::ratio(0.1);
    plays! {
        bursts(attempts = 9, base = "1s", jitter = "none", on = "io::Error", budget = BUDGET,
            on_end = |_| panic!("in the hook"))
    }
    #[retry(attempts = 2, base = "1ms", on = "io::Error", budget = "none")]
    async fn outer(script: &Script) -> io::Result<usize> {
        let burst = AssertUnwindSafe(bursts(script)).catch_unwind().await;
        assert!(burst.is_err());
        assert_eq!(reattempt::Attempt::current().unwrap().attempts(), Some(2));
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let level = BUDGET.level();
    // The call is dropped in its wait. The tokens for the retry are back before the hook runs.
    let script = Script::new([RESET]);
    let dropped = AssertUnwindSafe(async {
        let _ = timeout(ms(10), bursts(&script)).await;
    });
    dropped.catch_unwind().await.unwrap_err();
    assert!((BUDGET.level() - level).abs() < 0.2, "{}", BUDGET.level());

    let script = Script::new([Step::Succeed]);
    outer(&script).await.unwrap_err();
    assert_eq!(script.calls(), 2, "once in each attempt of the outer call");
}

#[tokio::test(start_paused = true)]
async fn observe_does_not_report_a_call_that_the_hook_makes() {
    #[retry(attempts = 2, on = "io::Error", name = "inner")]
    async fn inner() -> io::Result<()> {
        Ok(())
    }
    plays! {
        outer(attempts = 2, base = "1ms", on = "io::Error", name = "outer", on_end = |_| { inner().now_or_never(); })
    }
    let (_, report) = with_report(outer(&Script::new([RESET]))).await;
    assert_eq!(report.unwrap().function(), "outer");
}

/// The hook is no part of the body around: what its calls do says nothing about that.
#[tokio::test(start_paused = true)]
async fn a_call_that_the_hook_makes_changes_nothing_that_the_outer_call_knows() {
    #[retry(attempts = 2, on = "io::Error", budget = "none")]
    async fn succeeds() -> io::Result<()> {
        Ok(())
    }
    plays! {
        refused(attempts = 3, base = "1ms", on = "io::Error", budget = BUDGET,
            on_end = |_| { succeeds().now_or_never(); })
    }
    #[retry(attempts = 3, base = "1ms", on = "io::Error", budget = "none")]
    async fn outer(script: &Script) -> io::Result<usize> {
        tokio::task::yield_now().await;
        refused(script).await
    }
    static BUDGET: Budget = Budget::ratio(0.1).with_capacity(1);
    let script = Script::new([RESET]);
    // Empties the budget.
    refused(&script).await.unwrap_err();
    let before = script.calls();
    let (result, report) = with_report(outer(&script)).await;
    result.unwrap_err();
    assert_eq!(report.unwrap().outcome(), Outcome::Budget);
    assert_eq!(script.calls(), before + 1);
}

/// A refusal of the hook's own call is none of the call that ended.
#[tokio::test(start_paused = true)]
async fn a_refusal_in_the_hook_does_not_end_the_outer_call() {
    static EMPTY: Budget = Budget::ratio(0.1).with_capacity(1);
    #[retry(attempts = 3, base = "1ms", on = "io::Error", budget = EMPTY)]
    async fn refused() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    plays! { inner(attempts = 1, on_end = |_| { refused().now_or_never(); }) }
    #[retry(attempts = 2, base = "1ms", on = "io::Error", budget = "none")]
    async fn outer(script: &Script) -> io::Result<usize> {
        tokio::task::yield_now().await;
        inner(script).await
    }
    refused().await.unwrap_err();
    let script = Script::new([RESET, Step::Succeed]);
    assert_eq!(outer(&script).await.unwrap(), 2);
}
