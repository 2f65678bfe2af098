//! Several limits that act at the same moment.

#![allow(clippy::float_cmp, reason = "whole numbers of tokens are exact")]

use std::cell::Cell;
use std::future::ready;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use reattempt::{Budget, Outcome, Policy, deadline, propagate, retry, with_report};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::script::{RESET, Script, Step, ending, ms, stopped};

/// The call is cancelled already, and begins after the deadline that it inherits.
#[tokio::test(start_paused = true)]
async fn a_call_that_begins_cancelled_and_late_makes_no_attempt() {
    plays!(call(cancel = ready(()), deadline = "5s"));
    let script = Script::new([Step::Succeed]);
    let until = Instant::now() + ms(100);
    tokio::time::advance(ms(200)).await;
    let error = deadline::scope_at(until, call(&script)).await.unwrap_err();
    let stopped = stopped(&error);
    assert_eq!((script.calls(), stopped.attempts()), (0, 0));
    assert_eq!(stopped.outcome(), Outcome::Cancelled);
}

/// `before_retry` goes on beyond the deadline, in one jump of the clock, and makes `cancel` complete. The call ends where
/// `before_retry` is pending, which is before `cancel` is polled again. The tokens of the retry come back once.
#[tokio::test(start_paused = true)]
async fn a_retry_that_is_late_and_cancelled_is_given_back_once() {
    static LEVEL: Budget = Budget::aws();
    #[retry(
        attempts = 5,
        base = "1s",
        jitter = "none",
        backoff = "constant",
        deadline = "3s",
        budget = "LEVEL",
        cancel = stop.notified(),
        before_retry = async || { late(script, stop).await },
    )]
    async fn call(script: &Script, stop: &Notify) -> io::Result<usize> {
        script.play().await
    }
    async fn late(script: &Script, stop: &Notify) {
        if script.calls() == 2 {
            tokio::time::advance(ms(10_000)).await;
            stop.notify_one();
        }
    }
    let script = Script::new([RESET]);
    let error = call(&script, &Notify::new()).await.unwrap_err();
    assert_eq!((script.calls(), LEVEL.level()), (2, 500.0 - 14.0));
    let cause = Some("call 2".to_owned());
    assert_eq!(ending(&error), (Outcome::Deadline, 2, cause));
}

/// The same without `before_retry`, where the loop itself drops the permit.
#[tokio::test(start_paused = true)]
async fn a_late_wake_up_gives_the_tokens_back() {
    static LEVEL: Budget = Budget::aws();
    plays! { call(attempts = 5, base = "1s", jitter = "none", deadline = "3s", budget = "LEVEL") }
    let script = Script::new([RESET]);
    let mut future = std::pin::pin!(call(&script));
    assert!(futures::poll!(&mut future).is_pending());
    assert_eq!(LEVEL.level(), 486.0);
    tokio::time::advance(ms(60_000)).await;
    let error = future.await.unwrap_err();
    assert_eq!((script.calls(), LEVEL.level()), (1, 500.0));
    assert!(error.to_string().contains("call 1"), "{error}");
}

/// The `cancel` future panics at some poll. The budget pays only for retries that began.
#[tokio::test(start_paused = true)]
async fn a_panic_of_the_cancel_future_takes_nothing() {
    static LEVEL: Budget = Budget::aws();
    plays! { call(attempts = 4, base = "1s", jitter = "none", budget = "LEVEL", cancel = bad(polls)), polls: u32 }
    async fn bad(polls: u32) {
        let mut polled = 0;
        std::future::poll_fn(|_| {
            polled += 1;
            assert!(polled < polls, "out of luck");
            std::task::Poll::<()>::Pending
        })
        .await;
    }
    let mut spent = 0.0;
    // The call polls the future when it asks for a pause, when an attempt begins, when its wait begins, and when the wait ends.
    for polls in 1..16 {
        let script = Arc::new(Script::new([RESET]));
        let task = tokio::spawn({
            let script = script.clone();
            async move { call(&script, polls).await }
        });
        let panicked = task.await.is_err_and(|error| error.is_panic());
        assert_eq!(panicked, polls < 15, "{polls}");
        spent += 14.0 * f64::from(polls.saturating_sub(3) / 4);
        assert_eq!(500.0 - LEVEL.level(), spent, "{polls}");
    }
    assert!(reattempt::Attempt::current().is_none());
}

#[allow(clippy::cast_precision_loss, reason = "a small number")]
fn retries(script: &Script) -> f64 {
    script.calls().saturating_sub(1) as f64
}

/// The budget refuses a retry after a timeout, while all other limits are set. The error names the timeout.
#[tokio::test(start_paused = true)]
async fn a_timeout_that_the_budget_refuses_runs_nothing_more() {
    static EMPTY: Budget = Budget::new().with_capacity(1);
    plays! {
        call(attempts = 5, timeout = "1s", deadline = "10s", budget = "EMPTY", cancel = std::future::pending::<()>(),
            before_retry = async || -> () { unreachable!("there is no retry") },
            on_retry = |_| unreachable!("there is no retry"))
    }
    let script = Script::new([Step::Hang]);
    let error = call(&script).await.unwrap_err();
    assert_eq!((script.calls(), script.elapsed()), (1, ms(1000)));
    assert_eq!(stopped(&error).outcome(), Outcome::Budget);
    assert_eq!(EMPTY.level(), 1.0);
}

/// The limit that comes first ends the call.
#[tokio::test(start_paused = true)]
async fn of_cancel_timeout_and_deadline_the_first_acts() {
    plays! {
        call(attempts = 1, timeout = timeout, deadline = deadline, cancel = tokio::time::sleep(cancel),
            budget = "none"), timeout: Duration, deadline: Duration, cancel: Duration
    }
    for (limits, outcome) in [
        ([10, 20, 30], Outcome::Timeout),
        ([30, 10, 20], Outcome::Deadline),
        ([20, 30, 10], Outcome::Cancelled),
        // At the same instant, `cancel` comes before the limits, and the deadline before the timeout.
        ([10, 10, 20], Outcome::Deadline),
        ([10, 20, 10], Outcome::Cancelled),
        ([20, 10, 10], Outcome::Cancelled),
    ] {
        let script = Script::new([Step::Hang]);
        let [timeout, deadline, cancel] = limits.map(ms);
        let error = call(&script, timeout, deadline, cancel).await.unwrap_err();
        assert_eq!(stopped(&error).outcome(), outcome, "{limits:?}");
        assert_eq!(script.elapsed(), ms(10), "{limits:?}");
    }
}

/// The future of `cancel` need not be `Send` or `Unpin`, and may have any output.
#[tokio::test(start_paused = true)]
async fn the_cancel_future_may_be_of_any_kind() {
    use std::rc::Rc;
    #[retry(attempts = 3, budget = "none", cancel = local(stop.clone(), std::marker::PhantomPinned))]
    async fn call(script: &Script, stop: Rc<Notify>) -> io::Result<usize> {
        script.play().await
    }
    async fn local(stop: Rc<Notify>, pinned: std::marker::PhantomPinned) -> Rc<Notify> {
        stop.notified().await;
        let _ = pinned;
        stop
    }
    let script = Rc::new(Script::new([Step::Hang]));
    let stop = Rc::new(Notify::new());
    let ended = tokio::task::LocalSet::new()
        .run_until(async {
            let task = tokio::task::spawn_local({
                let (script, stop) = (script.clone(), stop.clone());
                async move { call(&script, stop).await }
            });
            tokio::time::sleep(ms(50)).await;
            stop.notify_one();
            task.await.unwrap()
        })
        .await;
    assert_eq!(stopped(&ended.unwrap_err()).outcome(), Outcome::Cancelled);
}

/// Temporary values of the expression live as long as the call.
#[tokio::test(start_paused = true)]
async fn the_cancel_future_may_borrow_temporary_values_of_its_expression() {
    fn shutdown(stop: &Arc<Notify>) -> Arc<Notify> {
        stop.clone()
    }
    plays! { call(attempts = 3, budget = "none", cancel = shutdown(stop).notified()), stop: &Arc<Notify> }
    let (script, stop) = (Script::new([Step::Hang]), Arc::default());
    let (ended, ()) = tokio::join!(call(&script, &stop), async {
        tokio::time::sleep(ms(50)).await;
        stop.notify_one();
    });
    assert_eq!(stopped(&ended.unwrap_err()).outcome(), Outcome::Cancelled);
}

/// A neighbour in the same task spends tokio's cooperative budget at each poll. The call still sees that it is
/// cancelled.
#[tokio::test]
async fn a_greedy_neighbour_does_not_hide_the_cancellation() {
    use std::task::Poll;
    use tokio::task::coop;
    #[retry(attempts = 3, budget = "none", cancel = stop.acquire())]
    async fn call(stop: &tokio::sync::Semaphore) -> io::Result<()> {
        std::future::pending().await
    }
    let mut turns = 0;
    let greedy = std::future::poll_fn(|context| {
        while coop::has_budget_remaining() {
            if let Poll::Ready(spent) = coop::poll_proceed(context) {
                spent.made_progress();
            }
        }
        turns += 1;
        context.waker().wake_by_ref();
        if turns < 100 {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    });
    let stop = tokio::sync::Semaphore::new(1);
    tokio::select! {
        biased;
        () = greedy => panic!("not cancelled in a hundred turns"),
        ended = call(&stop) => {
            assert_eq!(stopped(&ended.unwrap_err()).outcome(), Outcome::Cancelled);
        }
    }
}

/// A future that borrows nothing of `self` can cancel a method with `&mut self`.
#[tokio::test(start_paused = true)]
async fn an_independent_future_cancels_a_method_with_mut_self() {
    struct Client {
        stop: Arc<Notify>,
        calls: u32,
    }
    impl Client {
        fn count(&mut self) {
            self.calls += 1;
            if self.calls == 2 {
                self.stop.notify_one();
            }
        }
        #[retry(attempts = 3, budget = "none", cancel = self.stop.clone().notified_owned())]
        async fn call(&mut self) -> io::Result<()> {
            self.count();
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let mut client = Client {
        stop: Arc::default(),
        calls: 0,
    };
    client.call().await.unwrap_err();
    assert_eq!(client.calls, 2);
}

/// An inner call that is cancelled stops the outer call, which has its own `cancel`. The `cancel` of the
/// outer call also cuts the inner call.
#[tokio::test(start_paused = true)]
async fn cancel_within_cancel() {
    #[retry(attempts = 4, base = "1s", jitter = "none", budget = "none", cancel = tokio::time::sleep(inner))]
    async fn nested(script: &Script, inner: Duration) -> io::Result<usize> {
        script.play().await
    }
    #[retry(attempts = 4, base = "1s", jitter = "none", budget = "none", cancel = tokio::time::sleep(outer))]
    async fn around(script: &Script, outer: Duration, inner: Duration) -> io::Result<usize> {
        nested(script, inner).await
    }
    for (outer, inner, at) in [(500, 9000, 500), (9000, 500, 500), (500, 500, 500)] {
        for steps in [vec![RESET], vec![Step::Hang]] {
            let script = Script::new(steps);
            around(&script, ms(outer), ms(inner)).await.unwrap_err();
            assert_eq!((script.calls(), script.elapsed()), (1, ms(at)));
        }
    }
}

/// A future that carries an attempt also keeps the deadline of the scope in which it is polled.
#[tokio::test(start_paused = true)]
async fn a_scope_around_a_carried_future_holds() {
    let carried = propagate(async { deadline::remaining() });
    let left = deadline::scope(ms(100), carried).await;
    assert_eq!(left, Some(ms(100)));

    // The nearer of both deadlines holds, and is gone after the call.
    for (kept, around) in [(100, 900), (900, 100)] {
        let carry = || {
            propagate(async {
                let first = deadline::remaining();
                tokio::task::yield_now().await;
                (first, deadline::remaining())
            })
        };
        let scope = deadline::scope(ms(kept), async { [carry()] });
        let [carried] = scope.await;
        let mut carried = Box::pin(carried);
        let polled = deadline::scope(ms(around), async { futures::poll!(&mut carried) }).await;
        assert!(polled.is_pending());
        let (first, then) = carried.await;
        assert_eq!((first, then), (Some(ms(100)), Some(ms(kept))));
    }
}

/// Functions that `before_retry` calls are within the call, so their retries add to its retries.
#[tokio::test(start_paused = true)]
async fn retries_in_before_retry_add() {
    plays!(reconnect(attempts = 4, base = "1ms", budget = "none"));
    plays! {
        call(attempts = 4, base = "1ms", budget = "none",
            before_retry = async || { let _ = reconnect(connection).await; }), connection: &Script
    }
    plays! {
        limited(attempts = 4, base = "1ms", budget = "none", deadline = "60s",
            before_retry = async || { let _ = reconnect(connection).await; }), connection: &Script
    }
    let (script, connection) = (Script::new([RESET]), Script::new([RESET]));
    call(&script, &connection).await.unwrap_err();
    // `before_retry` runs once for each of three retries, and makes three retries itself.
    assert_eq!((script.calls(), connection.calls()), (4, 6));
    let (script, connection) = (Script::new([RESET]), Script::new([RESET]));
    limited(&script, &connection).await.unwrap_err();
    assert_eq!((script.calls(), connection.calls()), (4, 6));
}

/// All durations are as long as possible. They limit nothing, and nothing overflows.
#[tokio::test(start_paused = true)]
async fn limits_of_the_longest_duration_limit_nothing() {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    #[retry(attempts = 3, timeout = max, deadline = max, budget = "none", base = "1ms", before_retry = async || tokio::time::sleep(ms(1)).await)]
    async fn call(script: &Script, max: Duration) -> io::Result<usize> {
        script.play().await
    }
    plays! { waits(attempts = 2, base = max, max_delay = max, factor = 1000.0, budget = "none"), max: Duration }
    let script = Script::new([
        RESET,
        Step::FailAfter(ms(10)),
        Step::SucceedAfter(100 * DAY),
    ]);
    let ended = deadline::scope(Duration::MAX, call(&script, Duration::MAX)).await;
    assert_eq!(ended.unwrap(), 3);
    let script = Script::new([RESET]);
    let cut = tokio::time::timeout(365 * DAY, waits(&script, Duration::MAX)).await;
    assert!(cut.is_err());
    assert_eq!(script.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn unlimited_attempts_have_no_budget_by_default() {
    const UNLIMITED: Policy = Policy::new()
        .with_unlimited_attempts()
        .with_max_delay(ms(1));
    plays! { call(attempts = "unlimited", base = "1ms", max_delay = "1ms") }
    plays!(by_policy(policy = UNLIMITED));
    /// The largest number means the same, as the reference says.
    const LARGEST: Policy = UNLIMITED.with_attempts(u32::MAX);
    plays!(by_largest(policy = LARGEST));
    plays!(by_expression(attempts = attempts, base = "1ms", max_delay = "1ms"), attempts: u32);
    let script = || Script::new(vec![RESET; 2_000].into_iter().chain([Step::Succeed]));
    assert_eq!(call(&script()).await.unwrap(), 2_001);
    assert_eq!(by_policy(&script()).await.unwrap(), 2_001);
    assert_eq!(by_largest(&script()).await.unwrap(), 2_001);
    assert_eq!(by_expression(&script(), u32::MAX).await.unwrap(), 2_001);
    let (run, script) = (async |script: &Script| script.play().await, script());
    assert_eq!(
        LARGEST.run(async || run(&script).await).await.unwrap(),
        2_001
    );
}

/// The largest limit keeps the budget.
#[tokio::test(start_paused = true)]
async fn one_attempt_less_than_the_largest_number_is_a_limit() {
    plays!(call(attempts = attempts, base = "1ms", max_delay = "1ms"), attempts: u32);
    let script = Script::new(vec![RESET; 2_000]);
    let (_, report) = with_report(call(&script, u32::MAX - 1)).await;
    assert_eq!(report.unwrap().outcome(), Outcome::Budget);
}

#[test]
fn the_reference_says_which_number_means_unlimited() {
    let page = include_str!("../../src/retry.md");
    for words in [
        "(0 counts as 1, `u32::MAX` as `\"unlimited\"`)",
        "one per function; none with unlimited attempts",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

/// A function has one budget for all its generic arguments, and for all types that implement its trait.
#[tokio::test(start_paused = true)]
async fn a_generic_function_and_a_default_method_have_one_budget_each() {
    trait Place {
        fn script(&self) -> &Script;
        #[retry(attempts = 200, base = "0ms", jitter = "none")]
        #[allow(async_fn_in_trait, reason = "called here alone")]
        async fn call(&self) -> io::Result<usize> {
            self.script().play().await
        }
    }
    struct One(Script);
    struct Other(Script);
    impl Place for One {
        fn script(&self) -> &Script {
            &self.0
        }
    }
    impl Place for Other {
        fn script(&self) -> &Script {
            &self.0
        }
    }
    #[retry(attempts = 200, base = "0ms", jitter = "none")]
    async fn generic<T: Place>(place: &T) -> io::Result<usize> {
        place.script().play().await
    }
    let places = || (One(Script::new([RESET])), Other(Script::new([RESET])));
    let (one, other) = places();
    one.call().await.unwrap_err();
    other.call().await.unwrap_err();
    assert_eq!((one.0.calls(), other.0.calls()), (1 + 100, 1));
    let (one, other) = places();
    generic(&one).await.unwrap_err();
    generic(&other).await.unwrap_err();
    assert_eq!((one.0.calls(), other.0.calls()), (1 + 100, 1));
}

/// A thousand calls of one function run at the same time, and are cancelled, timed out or refused. The budget is
/// charged only for retries that began.
#[tokio::test(start_paused = true)]
async fn a_thousand_calls_at_once_conserve_the_budget() {
    static LEVEL: Budget = Budget::aws().with_capacity(10_000);
    plays! {
        call(attempts = 3, base = "20ms", jitter = "equal", timeout = "30ms", deadline = "200ms", budget = "LEVEL",
            cancel = tokio::time::sleep(cancel), before_retry = async || tokio::time::sleep(ms(1)).await),
        cancel: Duration
    }
    let calls: Vec<_> = (0..1000_u64)
        .map(|n| {
            let script = Arc::new(Script::new([Step::FailAfter(ms(n % 40)), Step::Hang]));
            let task = tokio::spawn({
                let script = script.clone();
                async move { call(&script, ms(n % 97)).await }
            });
            (task, script)
        })
        .collect();
    let mut spent = 0.0;
    for (n, (task, script)) in calls.into_iter().enumerate() {
        if n % 100 == 99 {
            task.abort();
        }
        let _ = task.await;
        spent += 14.0 * retries(&script);
    }
    assert!(spent > 1400.0, "{spent}");
    assert_eq!(10_000.0 - LEVEL.level(), spent);
}

/// A call in `before_retry` keeps the deadline. A refusal in it ends no outer call, also if it ends the call that runs
/// `before_retry`.
#[tokio::test(start_paused = true)]
async fn a_refusal_in_before_retry_ends_no_outer_call() {
    static EMPTY: Budget = Budget::new().with_capacity(1);
    #[retry(attempts = 4, base = "1ms", budget = "EMPTY")]
    async fn reconnect(script: &Script, left: &Cell<Option<Duration>>) -> io::Result<usize> {
        left.set(deadline::remaining());
        script.play().await
    }
    plays! {
        ends(attempts = 3, base = "1s", backoff = "constant", jitter = "none", budget = "none", deadline = "60s",
            before_retry = async || reconnect(connection, left).await.map(drop)), connection: &Script,
        left: &Cell<Option<Duration>>
    }
    plays! {
        goes_on(attempts = 3, base = "1s", backoff = "constant", jitter = "none", budget = "none",
            before_retry = async || { let _ = reconnect(connection, left).await; }), connection: &Script,
        left: &Cell<Option<Duration>>
    }
    #[retry(attempts = 4, base = "1ms", budget = "none")]
    async fn around<'a>(
        ended: &dyn Fn() -> LocalBoxFuture<'a, io::Result<usize>>,
    ) -> io::Result<usize> {
        ended().await
    }
    let left = Cell::new(None);
    let (script, connection) = (Script::new([RESET]), Script::new([RESET]));
    around(&|| Box::pin(ends(&script, &connection, &left)))
        .await
        .unwrap_err();
    assert_eq!((script.calls(), connection.calls()), (4, 4));
    assert_eq!(left.take(), Some(ms(59_000)));
    let (script, connection) = (Script::new([RESET]), Script::new([RESET]));
    around(&|| Box::pin(goes_on(&script, &connection, &left)))
        .await
        .unwrap_err();
    assert_eq!((script.calls(), connection.calls()), (6, 2));
    assert_eq!(left.take(), None);
}

/// The future of the call holds the `cancel` future once.
#[test]
fn a_call_holds_its_cancel_future_once() {
    async fn large() {
        let bytes = std::hint::black_box([1_u8; 4096]);
        std::future::pending::<()>().await;
        std::hint::black_box(bytes);
    }
    #[retry(cancel = large())]
    async fn call() -> io::Result<()> {
        ready(Ok(())).await
    }
    let size = size_of_val(&call());
    assert!(size < 4096 + 1024, "{size}");
}
