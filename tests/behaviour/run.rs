//! Retries without the attribute: `Policy::run`.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::future::ready;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use reattempt::{
    Attempt, Budget, FAST_IO, Jitter, NO_RETRY, Outcome, Policy, Preset, Retryable, Stopped,
    Verdict, WithoutLimits, deadline, retry, run, with_report,
};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep};

use crate::events::Log;
use crate::script::{RESET, Script, Step, ending, ms, times_of};

#[derive(Debug, thiserror::Error, Retryable)]
#[error("deadlock")]
#[retryable(conflict)]
struct Deadlock(#[source] io::Error);

const POLICY: Policy = Policy::new()
    .with_attempts(4)
    .with_base(ms(100))
    .with_jitter(Jitter::None);

#[tokio::test(start_paused = true)]
async fn the_verdict_of_the_error_decides_about_retries() {
    let script = Script::new([RESET, RESET, Step::Succeed]);
    let (result, report) = with_report(POLICY.run(|| script.play())).await;
    assert_eq!(result.unwrap(), 3);
    assert_eq!(script.times(), [ms(0), ms(100), ms(300)]);
    let report = report.unwrap();
    assert_eq!(report.outcome(), Outcome::SuccessAfterRetry);
    assert_eq!(report.waited(), ms(300));
    assert!(report.function().contains("run.rs:"), "{report}");

    let script = Script::new([Step::Fail(io::ErrorKind::NotFound)]);
    POLICY.run(|| script.play()).await.unwrap_err();
    assert_eq!(script.calls(), 1);
    let script = Script::new([RESET]);
    NO_RETRY.run(|| script.play()).await.unwrap_err();
    assert_eq!(script.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn when_on_and_unless_choose_the_errors() {
    /// How many attempts it makes.
    async fn calls_of<T, E>(script: &Script, ended: impl Future<Output = Result<T, E>>) -> usize {
        let before = script.calls();
        assert!(ended.await.is_err());
        script.calls() - before
    }
    let missing = &Script::new([Step::Fail(io::ErrorKind::NotFound)]);
    let run = POLICY.run(|| missing.play());
    let run = run.when(|error| error.kind() == io::ErrorKind::NotFound);
    assert_eq!(calls_of(missing, run.unboxed()).await, 4);
    // `on` names the type, but the verdict of a `NotFound` is permanent.
    let run = POLICY.run(|| missing.play()).on::<io::Error>();
    assert_eq!(calls_of(missing, run.unboxed()).await, 1);

    let reset = &Script::new([RESET]);
    let is_reset = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionReset;
    let run = || POLICY.run(|| reset.play());
    let no_reset = run().on::<io::Error>().when(|error| !is_reset(error));
    assert_eq!(calls_of(reset, no_reset.unboxed()).await, 1);
    let unless = run().unless(is_reset).unboxed();
    assert_eq!(calls_of(reset, unless).await, 1);
    let either = run().on::<Stopped>().on::<io::Error>().unboxed();
    assert_eq!(calls_of(reset, either).await, 4);
    let stopped = run().on::<Stopped>().unboxed();
    assert_eq!(calls_of(reset, stopped).await, 1);
    let once = run().with_idempotent(false).unboxed();
    assert_eq!(calls_of(reset, once).await, 1);

    let play = async || anyhow::Ok(reset.play().await?);
    let inside = run!(policy = POLICY, on(io::Error), async || play().await);
    assert_eq!(calls_of(reset, inside).await, 4);
    let play = async || Ok::<_, Box<dyn Error + Send + Sync>>(reset.play().await?);
    let inside = run!(policy = POLICY, on(io::Error), async || play().await);
    assert_eq!(calls_of(reset, inside).await, 4);
    let free = POLICY.without_limits();
    let run = free.run(async || reset.play().await.map_err(Deadlock));
    let run = run.with_idempotent(false).unboxed();
    assert_eq!(calls_of(reset, run).await, 4);
}

#[tokio::test(start_paused = true)]
async fn a_policy_without_limits_has_what_was_set_before() {
    // A function of a library, which cannot call what is not `const`.
    const fn stored(retries: u32) -> WithoutLimits {
        let stored = FAST_IO.with_attempts(retries + 1).with_base(ms(100));
        let stored = stored.with_max_delay(ms(1_000)).with_jitter(Jitter::None);
        stored.without_budget().without_limits()
    }
    const STORED: WithoutLimits = stored(2);
    let expected = Policy::new().with_attempts(3).with_max_delay(ms(1_000));
    assert_eq!(
        *STORED.policy(),
        expected.with_jitter(Jitter::None).without_budget()
    );
    let began = Instant::now();
    let more = STORED.policy().clone().with_attempts(4).without_limits();
    // `&str` cannot hold a `Stopped`.
    let run = more.run(async || Err::<(), _>("full"));
    assert_eq!(
        run.verdict(|_| Verdict::Unknown).when(|_| true).await,
        Err("full")
    );
    assert_eq!(began.elapsed(), ms(700));
}

#[tokio::test(start_paused = true)]
async fn an_ok_can_mean_failure() {
    let script = Script::new([RESET, Step::Succeed]);
    let mut told = Vec::new();
    let run = POLICY.run(|| script.play()).when_ok(|call| *call == 2);
    let run = run.when_ok(|call| *call == 3);
    let run = run.on_retry(|event| told.push(event.error().is_some()));
    let (result, report) = with_report(run).await;
    assert_eq!(result.unwrap(), 4);
    assert_eq!(told, [true, false, false]);
    assert_eq!(report.unwrap().outcome(), Outcome::SuccessAfterRetry);

    let script = Script::new([Step::Succeed]);
    let run = POLICY.run(|| script.play()).when_ok(|_| true);
    let (result, report) = with_report(run).await;
    assert_eq!(result.unwrap(), 4);
    assert_eq!(report.unwrap().outcome(), Outcome::AttemptsExhausted);

    // It selects no errors.
    let script = Script::new([Step::Fail(io::ErrorKind::NotFound)]);
    let run = POLICY.run(|| script.play()).when_ok(|_| true);
    run.await.unwrap_err();
    assert_eq!(script.calls(), 1);
    let script = Script::new([Step::Succeed]);
    let run = POLICY.run(|| script.play()).when_ok(|_| true);
    run.with_idempotent(false).await.unwrap();
    assert_eq!(script.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn rules_hold_together_in_any_order() {
    let is_reset = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionReset;
    let play = async |script: &Script, selected: bool| {
        let run = POLICY.run(|| script.play()).when(|_| selected);
        let run = run.when(is_reset).on::<io::Error>().unless(|_| false);
        run.unless(|_| script.calls() == 3).await.unwrap_err();
        script.calls()
    };
    assert_eq!(play(&Script::new([RESET]), true).await, 3);
    assert_eq!(play(&Script::new([RESET]), false).await, 1);
    let refused = Script::new([Step::Fail(io::ErrorKind::ConnectionRefused)]);
    assert_eq!(play(&refused, true).await, 1);
    let script = Script::new([RESET]);
    let run = POLICY.run(|| script.play()).when(|_| true).on::<Stopped>();
    run.await.unwrap_err();
    assert_eq!(script.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn timeouts_deadlines_and_cancel_end_it_as_in_an_annotated_function() {
    let timed = POLICY.with_timeout(ms(50)).with_attempts(2);
    let script = Script::new([Step::Hang]);
    let error = timed.run(|| script.play()).await.unwrap_err();
    assert_eq!(ending(&error), (Outcome::Timeout, 2, None));

    let script = Script::new([Step::Hang]);
    let run = timed.run(|| script.play());
    let run = run.unless(|error| error.kind() == io::ErrorKind::TimedOut);
    assert_eq!(ending(&run.await.unwrap_err()), (Outcome::Timeout, 1, None));

    let script = Script::new([RESET]);
    let due = POLICY.with_unlimited_attempts().with_deadline(ms(1000));
    let error = due.run(|| script.play()).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(script.calls(), 4);

    let script = Script::new([RESET]);
    let run = POLICY.run(|| script.play()).with_cancel(sleep(ms(150)));
    let error = run.await.unwrap_err();
    assert_eq!(ending(&error).0, Outcome::Cancelled);
    assert_eq!(script.calls(), 2);
}

/// An error that cannot hold a `Stopped`.
#[derive(Debug, PartialEq)]
struct Busy(u32);

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Busy({})", self.0)
    }
}

#[tokio::test(start_paused = true)]
async fn without_limits_the_error_can_be_of_any_type() {
    let limited = POLICY.with_timeout(ms(10)).with_deadline(ms(20));
    let calls = Cell::new(0);
    let operation = async || {
        calls.set(calls.get() + 1);
        sleep(ms(50)).await;
        Err::<(), _>(Busy(calls.get()))
    };
    let run = limited.without_limits().run(operation);
    let run = run
        .verdict(|_| Verdict::Unknown)
        .when(|busy| busy.0 < 3)
        .unboxed();
    let (result, report) = with_report(run).await;
    assert_eq!(result, Err(Busy(3)));
    let report = report.unwrap();
    assert_eq!(report.outcome(), Outcome::NotRetryable);
    assert_eq!(report.elapsed(), ms(3 * 50 + 100 + 200));

    let log = Log::listen();
    let run = POLICY.without_limits().run(async || Err::<(), _>(Busy(7)));
    assert_eq!(
        run.verdict(|_| Verdict::Unknown).when(|_| true).await,
        Err(Busy(7))
    );
    let lines = log.lines();
    assert!(lines[0].contains(r#"error="Busy(7)""#), "{lines:?}");

    let preset = Preset::new("busy", limited);
    let run = preset
        .without_limits()
        .run(async || Err::<(), _>("busy".to_owned()));
    assert_eq!(
        run.verdict(|_| Verdict::Unknown).when(|_| true).await,
        Err("busy".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn without_limits_the_deadline_around_bounds_the_waits() {
    let operation = async || Err::<(), _>(Busy(1));
    let run = POLICY
        .without_limits()
        .run(operation)
        .verdict(|_| Verdict::Unknown)
        .when(|_| true);
    let (result, report) = deadline::scope(ms(180), with_report(run)).await;
    assert_eq!(result, Err(Busy(1)));
    let report = report.unwrap();
    assert_eq!(
        (report.outcome(), report.attempts()),
        (Outcome::Deadline, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn each_place_in_the_source_has_its_own_budget_by_default() {
    static NAMED: Budget = Budget::ratio(0.1);
    let fails = async |budget: Option<&Budget>| {
        let script = Script::new([RESET]);
        let run = POLICY.run(|| script.play());
        match budget {
            Some(budget) => run.with_budget(budget).await.unwrap_err(),
            None => run.without_budget().await.unwrap_err(),
        };
        script.calls()
    };
    assert_eq!(fails(Some(&NAMED)).await, 2);
    assert_eq!(fails(Some(&NAMED)).await, 1);
    let shared = Arc::new(Budget::ratio(0.1));
    let script = Script::new([RESET]);
    let run = POLICY.run(|| script.play()).with_budget(&shared);
    run.await.unwrap_err();
    assert_eq!(script.calls(), 2);
    for _ in 0..1_000 {
        assert_eq!(fails(None).await, 4);
    }

    let mut refused = false;
    for _ in 0..1_000 {
        let script = Script::new([RESET]);
        let ended = with_report(POLICY.run(|| script.play())).await;
        refused |= ended.1.unwrap().outcome() == Outcome::Budget;
    }
    assert!(refused, "the budget of this place");
}

#[tokio::test(start_paused = true)]
async fn a_hook_runs_before_each_retry() {
    let script = Script::new([RESET, Step::Hang, Step::Succeed]);
    let mut told = Vec::new();
    let run = POLICY.with_timeout(ms(10)).run(|| script.play());
    let run = run.with_name("greeting").on_retry(|event| {
        told.push((event.attempt(), event.delay(), event.error().is_some()));
        assert_eq!(event.function(), "greeting");
        assert_eq!(event.attempts(), Some(4));
    });
    assert_eq!(run.await.unwrap(), 3);
    assert_eq!(told, [(1, ms(100), true), (2, ms(200), false)]);
}

#[tokio::test]
async fn it_can_be_spawned_with_borrowed_data() {
    let ended = tokio::spawn(async {
        let text = String::from("lent");
        let lengths = Mutex::new(Vec::new());
        let policy = POLICY.with_base(Duration::ZERO);
        let operation = async || {
            tokio::task::yield_now().await;
            lengths.lock().unwrap().push(text.len());
            Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset))
        };
        policy.run(operation).await.unwrap_err();
        drop(text);
        lengths.into_inner().unwrap()
    });
    assert_eq!(ended.await.unwrap(), [4; 4]);
}

/// As the guide's page on closures says.
#[tokio::test(start_paused = true)]
async fn a_stream_drives_eight_at_once() {
    struct Client {
        running: AtomicU32,
        most: AtomicU32,
    }

    impl Client {
        /// Stores each item in its second attempt.
        async fn store(&self, item: u32) -> io::Result<u32> {
            let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
            self.most.fetch_max(running, Ordering::Relaxed);
            sleep(ms(10)).await;
            self.running.fetch_sub(1, Ordering::Relaxed);
            match Attempt::current().unwrap().number() {
                1 => Err(io::ErrorKind::ConnectionReset.into()),
                _ => Ok(item),
            }
        }
    }

    let client = &Client {
        running: AtomicU32::new(0),
        most: AtomicU32::new(0),
    };
    let items = stream::iter(0..50)
        .map(|item| POLICY.run(move || client.store(item)))
        .buffer_unordered(8);
    let mut stored: Vec<u32> = items.try_collect().await.unwrap();
    stored.sort_unstable();
    assert!(stored.into_iter().eq(0..50));
    assert_eq!(client.most.load(Ordering::Relaxed), 8);
}

/// The same.
#[tokio::test(start_paused = true)]
async fn in_an_outage_the_items_of_a_stream_fail_or_wait() {
    let stored = async |policy: Policy| {
        let began = Instant::now();
        let store = &async || {
            sleep(ms(10)).await;
            if began.elapsed() < ms(5000) {
                return Err(io::Error::from(io::ErrorKind::ConnectionRefused));
            }
            Ok(())
        };
        let items = stream::iter(0..500).map(|_| policy.run(store));
        let stored = items.buffer_unordered(8).filter(|item| ready(item.is_ok()));
        stored.count().await
    };
    assert_eq!(stored(POLICY).await, 0);
    let patient = POLICY.with_attempts(u32::MAX).with_deadline(ms(60_000));
    assert_eq!(stored(patient).await, 500);
}

#[tokio::test(start_paused = true)]
async fn without_a_box_the_operation_need_not_be_send() {
    let calls = Rc::new(Cell::new(0));
    let counted = Rc::clone(&calls);
    let operation = move || {
        counted.set(counted.get() + 1);
        let attempt = Attempt::current().unwrap();
        assert_eq!(attempt.number(), counted.get());
        ready(Err::<(), _>(io::Error::from(
            io::ErrorKind::ConnectionReset,
        )))
    };
    let run = POLICY.run(operation).when(|_| true);
    let local = LocalSet::new();
    let ended = local.run_until(async { spawn_local(run.unboxed()).await.unwrap() });
    ended.await.unwrap_err();
    assert_eq!(calls.get(), 4);
}

/// As in an annotated function.
#[tokio::test(start_paused = true)]
async fn rules_and_hooks_are_asked_in_this_order() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let note = |what| {
        let asked = Arc::clone(&asked);
        move || asked.lock().unwrap().push(what)
    };
    let (when, unless, after) = (note("when"), note("unless"), note("retry_after"));
    let (when_ok, until, on_retry) = (note("when_ok"), note("until"), note("on_retry"));
    let mut calls = 0;
    let operation = move || {
        calls += 1;
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        ready(if calls == 1 { Err(reset) } else { Ok(calls) })
    };
    let run = POLICY.run(operation).when(move |_| {
        when();
        true
    });
    let run = run.unless(move |_| {
        unless();
        false
    });
    let run = run.retry_after(move |_| {
        after();
        None
    });
    let run = run.when_ok(move |value| {
        when_ok();
        *value == 2
    });
    let run = run.until(move |_| {
        until();
        true
    });
    let run = run.on_retry(move |_| on_retry());
    assert_eq!(run.await.unwrap(), 3);
    assert_eq!(
        *asked.lock().unwrap(),
        [
            "unless",
            "when",
            "retry_after",
            "on_retry", // the error
            "until",
            "when_ok",
            "on_retry", // the `Ok` that failed
            "until",
            "when_ok",
        ]
    );

    let (mut told, shared) = (0, AtomicU32::new(0));
    let run = NO_RETRY.with_attempts(2).with_base(Duration::ZERO);
    let run = run.run_blocking(|| Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset)));
    let run = run
        .on_retry(|_| _ = shared.fetch_add(1, Ordering::Relaxed))
        .on_retry(|_| told += 1);
    run.call().unwrap_err();
    assert_eq!((shared.into_inner(), told), (1, 1), "each hook is called");
}

#[tokio::test]
async fn with_send_hooks_the_future_is_send_without_a_box() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let hook = Arc::clone(&told);
    let ended = tokio::spawn(async move {
        let name = String::from("lent");
        let operation = async || {
            tokio::task::yield_now().await;
            Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset))
        };
        let run = POLICY.with_base(Duration::ZERO).run(operation);
        let run =
            run.when(|error| error.kind() == io::ErrorKind::ConnectionReset && !name.is_empty());
        let run = run.on_retry(|event| hook.lock().unwrap().push(event.attempt()));
        run.unboxed().await
    });
    ended.await.unwrap().unwrap_err();
    assert_eq!(*told.lock().unwrap(), [1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn within_an_annotated_function_retries_add() {
    #[retry(attempts = 4, base = "1ms", on = "io::Error")]
    async fn outer(script: &Script) -> io::Result<usize> {
        POLICY.run(|| script.play()).await
    }
    assert_eq!(times_of(outer).await.len(), 7);
}

/// A closure that is not async does a part of its work before it returns the future.
#[tokio::test(start_paused = true)]
async fn what_a_closure_does_when_it_is_called_belongs_to_the_attempt() {
    let seen = RefCell::new(Vec::new());
    let policy = POLICY.with_attempts(3);
    let call = || {
        let number = Attempt::current().map(|attempt| attempt.number());
        seen.borrow_mut().push(number);
        async {
            sleep(ms(50)).await;
            Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset))
        }
    };
    policy.run(call).unboxed().await.unwrap_err();
    assert_eq!(seen.take(), [Some(1), Some(2), Some(3)]);

    let cancelled = policy.run(call).with_cancel(ready(()));
    cancelled.unboxed().await.unwrap_err();
    assert_eq!(seen.take(), []);
}

#[tokio::test(start_paused = true)]
async fn it_returns_the_last_error_if_no_attempt_was_cut() {
    let script = Script::new([Step::FailAfter(ms(90)), RESET]);
    let due = POLICY.with_deadline(ms(100));
    let error = due.run(|| script.play()).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(script.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_has_the_last_error_with_the_attribute_and_not_with_run() {
    plays!(annotated(policy = POLICY, deadline = "1s"));
    let steps = [RESET, Step::Hang];
    let (outcome, attempts, cause) = ending(&annotated(&Script::new(steps)).await.unwrap_err());
    assert_eq!((outcome, attempts), (Outcome::Deadline, 2));
    assert!(cause.is_some());

    let script = Script::new(steps);
    let due = POLICY.with_deadline(Duration::from_secs(1));
    let error = due.run(|| script.play()).await.unwrap_err();
    assert_eq!(ending(&error), (Outcome::Deadline, 2, None));
}

/// An error of another crate: it has no verdict, and cannot hold a `Stopped`.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("no responders")]
struct Foreign;

const LIMITED: Policy = POLICY.with_timeout(ms(50)).with_deadline(ms(5_000));

#[tokio::test(start_paused = true)]
async fn a_limit_stops_a_run_of_any_error_type() {
    let hangs = async || {
        sleep(ms(1_000)).await;
        Err::<(), _>(Foreign)
    };
    let told = Mutex::new(Vec::new());
    let run = run!(
        policy = LIMITED,
        when = |_| true,
        unless = |error| error.source().is_none(),
        on_retry = |event| told.lock().unwrap().push(event.error().copied()),
        async || hangs().await
    );
    let Err(reattempt::Error::Stopped(stopped)) = run.await else {
        panic!("the limit must stop it")
    };
    assert_eq!(
        (stopped.outcome(), stopped.attempts()),
        (Outcome::Timeout, 4)
    );
    assert_eq!(
        *told.lock().unwrap(),
        [None; 3],
        "`unless` has no error to see"
    );

    let cancelled = run!(
        policy = POLICY,
        when = |_| true,
        cancel = sleep(ms(10)),
        async || hangs().await
    );
    let Err(reattempt::Error::Stopped(stopped)) = cancelled.await else {
        panic!("it must be cancelled")
    };
    assert_eq!(stopped.outcome(), Outcome::Cancelled);
    let unready = run!(
        policy = POLICY,
        when = |_| true,
        until = |done| *done == 2,
        async || Ok::<_, Foreign>(1)
    );
    assert!(matches!(unready.await, Err(reattempt::Error::Stopped(_))));
}

#[tokio::test(start_paused = true)]
async fn unless_sees_the_error_that_a_timeout_would_give() {
    let hangs = async || {
        sleep(ms(1_000)).await;
        io::Result::Ok(())
    };
    let run = LIMITED
        .run(hangs)
        .unless(|error| error.kind() == io::ErrorKind::TimedOut);
    let (result, report) = with_report(run).await;
    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert_eq!(report.unwrap().attempts(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_verdict_can_be_given_to_any_error() {
    for (verdict, attempts) in [
        (Verdict::Refused, 4),
        (Verdict::Transient, 1),
        (Verdict::Unknown, 1),
    ] {
        let run = LIMITED
            .without_limits()
            .run(async || Err::<(), _>(Foreign))
            .with_idempotent(false);
        let run = run.verdict(move |_| verdict);
        let (result, report) = with_report(run).await;
        assert_eq!(result, Err(Foreign));
        let report = report.unwrap();
        assert_eq!(
            (report.attempts(), report.verdict()),
            (attempts, Some(verdict))
        );
    }
    // In place of its own, with a hint, and beside `when`.
    let missing = async || Err::<(), _>(io::Error::from(io::ErrorKind::NotFound));
    let run = POLICY
        .run(missing)
        .verdict(|_| (Verdict::Throttled, Some(ms(3_000))));
    let (result, report) = with_report(run).await;
    let report = report.unwrap();
    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!((report.attempts(), report.waited()), (4, ms(9_000)));
    let run = POLICY
        .run(missing)
        .when(|_| false)
        .verdict(|_| Verdict::Transient);
    assert_eq!(with_report(run).await.1.unwrap().attempts(), 1);
    // Any type: one that can hold a `Stopped`, and has no verdict.
    let run = LIMITED
        .run(async || Err::<(), _>("busy".to_owned()))
        .verdict(|_| Verdict::Transient);
    assert_eq!(with_report(run).await.0.unwrap_err(), "busy");
}
