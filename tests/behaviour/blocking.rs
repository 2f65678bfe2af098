//! Functions with `blocking`: their time, the calls and scopes around them, and their threads. Some waits here
//! are real, and a few milliseconds long. `tests/scopes` compares such functions with async ones.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use reattempt::{Attempt, Outcome, Policy, Report, deadline, propagate, retry, with_report};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Notify;
use tokio::task::{LocalSet, block_in_place, spawn_blocking};

use crate::script::{ms, run, stopped};

fn reset<T>() -> io::Result<T> {
    Err(io::ErrorKind::ConnectionReset.into())
}

/// Counts, and fails with a retryable error.
fn fail(calls: &Cell<u32>) -> io::Result<()> {
    calls.set(calls.get() + 1);
    reset()
}

/// The report that a hook received.
type Told = RefCell<Option<Report>>;

fn told(told: &Told) -> Report {
    told.take().expect("the call ended")
}

#[test]
fn it_waits_between_its_attempts_without_a_runtime() {
    #[retry(blocking, delays = ["10ms", "20ms"], on_end = |report| *hear.borrow_mut() = Some(report.clone()))]
    fn call(calls: &Cell<u32>, hear: &Told) -> io::Result<()> {
        thread::sleep(ms(5));
        fail(calls)
    }
    let (calls, hear) = (Cell::new(0), Told::default());
    let began = Instant::now();
    call(&calls, &hear).unwrap_err();
    let took = began.elapsed();
    assert_eq!(calls.get(), 3);
    assert!(took >= ms(45), "{took:?}");
    let report = told(&hear);
    assert_eq!(report.outcome(), Outcome::AttemptsExhausted);
    assert!(report.waited() >= ms(30), "{report}");
    assert!(
        report.elapsed() >= ms(45),
        "the first attempt counts: {report}"
    );
    assert!(report.elapsed() <= took, "{report}");
}

/// The clock of a runtime that is paused does, while a thread sleeps.
#[tokio::test(start_paused = true)]
async fn waits_count_although_the_clock_stands_still() {
    #[retry(
        blocking,
        attempts = "unlimited",
        delays = ["10ms"],
        deadline = "50ms",
        on_end = |report| *hear.borrow_mut() = Some(report.clone()),
    )]
    fn call(calls: &Cell<u32>, hear: &Told) -> io::Result<()> {
        fail(calls)
    }
    let (calls, hear) = (Cell::new(0), Told::default());
    call(&calls, &hear).unwrap_err();
    // A fifth wait leaves no time for a useful attempt.
    assert_eq!(calls.get(), 5);
    let report = told(&hear);
    assert_eq!(report.outcome(), Outcome::Deadline);
    assert_eq!((report.elapsed(), report.waited()), (ms(40), ms(40)));
}

#[test]
fn time_counts_from_the_beginning_of_the_call() {
    #[retry(blocking, deadline = "10ms", base = "0s", on_end = |report| *hear.borrow_mut() = Some(report.clone()))]
    fn call(calls: &Cell<u32>, hear: &Told) -> io::Result<()> {
        thread::sleep(ms(20));
        fail(calls)
    }
    let (calls, hear) = (Cell::new(0), Told::default());
    let error = call(&calls, &hear).unwrap_err();
    assert_eq!(calls.get(), 1, "the deadline is over after one attempt");
    assert_eq!(
        error.kind(),
        io::ErrorKind::ConnectionReset,
        "its own error"
    );
    assert_eq!(told(&hear).outcome(), Outcome::Deadline);
}

#[test]
fn a_wait_that_does_not_fit_the_deadline_is_not_begun() {
    #[retry(blocking, deadline = "5s", delays = ["10s"])]
    fn call(calls: &Cell<u32>) -> io::Result<()> {
        fail(calls)
    }
    let (calls, began) = (Cell::new(0), Instant::now());
    call(&calls).unwrap_err();
    assert_eq!(calls.get(), 1);
    assert!(began.elapsed() < ms(5_000));
}

#[test]
fn no_attempt_begins_after_the_deadline() {
    #[retry(blocking, deadline = "50ms", base = "0s", before_retry = thread::sleep(ms(60)))]
    fn call(calls: &Cell<u32>) -> io::Result<()> {
        fail(calls)
    }
    let calls = Cell::new(0);
    let error = call(&calls).unwrap_err();
    assert_eq!(calls.get(), 1);
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset, "{error}");
}

#[test]
fn an_error_of_before_retry_ends_the_call() {
    #[retry(blocking, base = "0s", before_retry = || Err::<(), _>(io::Error::other("no way")))]
    fn call(calls: &Cell<u32>) -> io::Result<()> {
        fail(calls)
    }
    let calls = Cell::new(0);
    assert_eq!(call(&calls).unwrap_err().to_string(), "no way");
    assert_eq!(calls.get(), 1);
}

#[test]
fn a_deadline_around_counts() {
    #[retry(blocking, delays = ["1h"])]
    fn unlimited(calls: &Cell<u32>) -> io::Result<()> {
        fail(calls)
    }
    #[retry(blocking, delays = ["1h"], deadline = "2h")]
    fn limited(calls: &Cell<u32>) -> io::Result<()> {
        let remaining = Attempt::current().unwrap().remaining().unwrap();
        assert!(remaining <= ms(60_000), "{remaining:?}");
        fail(calls)
    }
    let calls = Cell::new(0);
    let error = run(deadline::scope(ms(60_000), async {
        unlimited(&calls).unwrap_err();
        limited(&calls).unwrap_err()
    }));
    assert_eq!(calls.get(), 2);
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);

    let over = run(deadline::scope(ms(0), async { limited(&calls) }));
    assert_eq!(calls.get(), 2, "no attempt begins where no time is left");
    let over = over.unwrap_err();
    assert_eq!(stopped(&over).outcome(), Outcome::Deadline);
    assert_eq!(stopped(&over).attempts(), 0);
}

#[test]
fn a_body_can_read_the_timeout_of_its_policy() {
    const POLICY: Policy = Policy::new()
        .with_timeout(Duration::from_secs(3))
        .with_base(Duration::ZERO);
    #[retry(blocking, policy = POLICY)]
    fn call(calls: &Cell<u32>) -> io::Result<()> {
        let remaining = Attempt::current().unwrap().remaining().unwrap();
        assert!(
            remaining > ms(1_000) && remaining <= ms(3_000),
            "{remaining:?}"
        );
        fail(calls)
    }
    let calls = Cell::new(0);
    call(&calls).unwrap_err();
    assert_eq!(calls.get(), 3);
}

#[test]
fn the_attempts_of_a_call_share_its_key() {
    #[retry(blocking, base = "0s")]
    fn call(keys: &RefCell<Vec<String>>) -> io::Result<()> {
        let attempt = Attempt::current().unwrap();
        assert_eq!(attempt.number() as usize, keys.borrow().len() + 1);
        keys.borrow_mut()
            .push(attempt.idempotency_key().to_string());
        reset()
    }
    let keys = RefCell::default();
    call(&keys).unwrap_err();
    let keys = keys.into_inner();
    assert_eq!(keys.len(), 3);
    assert!(keys.iter().all(|key| *key == keys[0]));
    assert!(Attempt::current().is_none(), "it is over");
}

#[retry(blocking, attempts = 4, base = "0s")]
fn inner(calls: &Cell<u32>) -> io::Result<()> {
    fail(calls)
}

#[test]
fn retries_add_within_blocking_calls_and_within_async_ones() {
    #[retry(blocking, attempts = 4, base = "0s")]
    fn outer(calls: &Cell<u32>) -> io::Result<()> {
        inner(calls)
    }
    #[retry(attempts = 4, base = "0s")]
    async fn awaited(calls: &Cell<u32>) -> io::Result<()> {
        tokio::task::yield_now().await;
        inner(calls)
    }
    #[retry(attempts = 4, base = "0s")]
    async fn around_both(calls: &Cell<u32>) -> io::Result<()> {
        outer(calls)
    }
    let calls = Cell::new(0);
    outer(&calls).unwrap_err();
    assert_eq!(calls.take(), 7);
    run(awaited(&calls)).unwrap_err();
    assert_eq!(calls.take(), 7);
    run(around_both(&calls)).unwrap_err();
    assert_eq!(calls.take(), 10);
}

#[test]
fn a_refusal_within_ends_the_call_around() {
    static EMPTY: reattempt::Budget = reattempt::Budget::aws().with_capacity(1).with_retry_cost(2);
    #[retry(blocking, budget = EMPTY)]
    fn refused(calls: &Cell<u32>) -> io::Result<()> {
        fail(calls)
    }
    #[retry(blocking, base = "0s")]
    fn outer(calls: &Cell<u32>) -> io::Result<()> {
        refused(calls)
    }
    let calls = Cell::new(0);
    let (result, report) = run(with_report(async { outer(&calls) }));
    result.unwrap_err();
    assert_eq!(calls.get(), 1);
    assert_eq!(report.unwrap().outcome(), Outcome::Budget);
}

#[test]
fn a_panic_of_the_body_ends_the_call() {
    #[retry(blocking, base = "0s", on_end = |report| send.send(report.clone()).unwrap())]
    fn call(calls: &Cell<u32>, send: &mpsc::Sender<Report>) -> io::Result<()> {
        assert!(calls.get() == 0, "broken");
        fail(calls)
    }
    let (send, receive) = mpsc::channel();
    let thread = thread::spawn(move || call(&Cell::new(0), &send));
    thread.join().unwrap_err();
    let report = receive.recv().unwrap();
    assert_eq!((report.outcome(), report.attempts()), (Outcome::Dropped, 2));
}

#[tokio::test]
async fn propagate_carries_the_call_around_to_another_thread() {
    #[retry(blocking, delays = ["1h"])]
    fn call() -> io::Result<Option<u32>> {
        let number = Attempt::current().map(|attempt| attempt.number());
        let remaining = deadline::remaining().expect("the deadline around");
        assert!(remaining <= ms(60_000), "{remaining:?}");
        if number == Some(1) {
            reset()
        } else {
            Ok(number)
        }
    }
    let error = deadline::scope(ms(60_000), async {
        let call = propagate(async { call() });
        let runtime = Handle::current();
        spawn_blocking(move || runtime.block_on(call))
            .await
            .unwrap()
    });
    assert_eq!(
        error.await.unwrap_err().kind(),
        io::ErrorKind::ConnectionReset
    );
}

/// Each thread waits until two are there, so the second attempt can succeed only beside the thread of the first.
#[tokio::test]
async fn a_limit_cuts_an_attempt_and_not_the_thread_that_it_waits_for() {
    #[retry(attempts = 9, timeout = "50ms", base = "1ms")]
    async fn meet(both: &Arc<Barrier>) -> io::Result<()> {
        let both = Arc::clone(both);
        spawn_blocking(move || both.wait()).await?;
        Ok(())
    }
    meet(&Arc::new(Barrier::new(2))).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_paused_clock_stands_still_while_it_waits() {
    #[retry(blocking, delays = ["10ms"])]
    fn call() -> io::Result<()> {
        reset()
    }
    let (paused, real) = (tokio::time::Instant::now(), Instant::now());
    call().unwrap_err();
    assert!(real.elapsed() >= ms(10));
    assert_eq!(paused.elapsed(), ms(0));
}

/// Where a function is called from.
mod threads {
    use super::*;
    use crate::events::Log;

    /// Whether a function that waits logs that it blocks a thread of a runtime. Each use makes its own function.
    macro_rules! is_said {
        (|$call:ident| $on_thread:expr) => {{
            #[retry(blocking, attempts = 2, base = "1ms", jitter = "none", name = "waits")]
            fn waits() -> io::Result<()> {
                reset()
            }
            let $call = || {
                // Each thread has its own subscriber.
                let log = Log::listen();
                waits().unwrap_err();
                waits().unwrap_err();
                let lines = log.lines();
                let said = lines.iter().filter(|line| line.contains("blocks a thread"));
                let said: Vec<_> = said
                    .inspect(|line| assert!(line.starts_with("WARN"), "{line}"))
                    .collect();
                assert!(said.len() <= 1, "it is said once: {said:#?}");
                assert!(
                    said.iter().all(|line| line.contains(r#"function="waits""#)),
                    "{said:#?}"
                );
                said.len() == 1
            };
            $on_thread
        }};
    }

    fn multi_threaded() -> Runtime {
        Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .build()
            .unwrap()
    }

    fn current_thread() -> Runtime {
        Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn a_wait_on_a_worker_is_logged_once() {
        let runtime = multi_threaded();
        let said =
            is_said!(|call| runtime.block_on(async { tokio::spawn(async move { call() }).await }));
        assert!(said.unwrap());
        assert!(is_said!(|call| current_thread().block_on(async { call() })));
        let said =
            is_said!(|call| current_thread()
                .block_on(async { tokio::spawn(async move { call() }).await }));
        assert!(said.unwrap());
        let local = async |set: &LocalSet| is_said!(|call| set.run_until(async { call() }).await);
        assert!(current_thread().block_on(local(&LocalSet::new())));
    }

    #[test]
    fn a_wait_that_keeps_no_task_waiting_is_not_logged() {
        assert!(!is_said!(|call| call()), "no runtime");
        for runtime in [multi_threaded(), current_thread()] {
            let _guard = runtime.enter();
            assert!(!is_said!(|call| call()), "beside a runtime");
            let said = is_said!(|call| runtime.block_on(async { spawn_blocking(call).await }));
            assert!(!said.unwrap(), "a thread for what blocks");
        }
        let runtime = multi_threaded();
        assert!(
            !is_said!(|call| runtime.block_on(async { call() })),
            "no task runs on that thread"
        );
        let said = is_said!(|call| runtime
            .block_on(async { tokio::spawn(async move { block_in_place(call) }).await }));
        assert!(!said.unwrap(), "the other tasks went elsewhere");
    }

    /// The crate cannot detect this case, in which the tasks of the set stand still.
    #[test]
    fn a_local_set_on_the_thread_that_entered_a_multi_threaded_runtime_is_not_seen() {
        let set = LocalSet::new();
        assert!(!is_said!(
            |call| set.block_on(&multi_threaded(), async { call() })
        ));
    }

    #[test]
    fn a_function_that_does_not_wait_logs_nothing() {
        #[retry(blocking, base = "0s")]
        fn call() -> io::Result<()> {
            reset()
        }
        let log = Log::listen();
        current_thread().block_on(async { call().unwrap_err() });
        let lines = log.lines();
        assert_eq!(lines.len(), 3, "two retries, and the end: {lines:#?}");
    }
}

/// Waits for a minute after each attempt, unless it is stopped. The hook and `before_retry` notify `stop` when they run.
#[retry(
    blocking,
    delays = [Duration::from_secs(60)],
    budget = "none",
    cancel_waits = stop.notified(),
    on_retry = |_| done.borrow_mut().push("retry"),
    before_retry = || done.borrow_mut().push("before"),
)]
fn stopped_by(stop: &Notify, done: &RefCell<Vec<&'static str>>, body: Body<'_>) -> io::Result<()> {
    done.borrow_mut().push("attempt");
    body()
}

type Body<'b> = &'b dyn Fn() -> io::Result<()>;

#[test]
fn cancel_waits_ends_the_wait_of_a_thread_and_no_attempt_that_runs() {
    let (stop, began) = (Arc::new(Notify::new()), Instant::now());
    let succeeds = || {
        stop.notify_one();
        Ok(())
    };
    let fails = || {
        stop.notify_one();
        reset()
    };
    let fails_before = || {
        let stop = Arc::clone(&stop);
        thread::spawn(move || {
            thread::sleep(ms(20));
            stop.notify_one();
        });
        reset()
    };
    let never = || panic!("no attempt begins");
    let cases: [(Body<'_>, &[&str], _); 4] = [
        (&succeeds, &["attempt"], None),
        (&never, &[], Some(0)),
        // The signal came before the wait, so no retry is announced.
        (&fails, &["attempt"], Some(1)),
        (&fails_before, &["attempt", "retry"], Some(1)),
    ];
    for (body, expected, attempts) in cases {
        if expected.is_empty() {
            stop.notify_one();
        }
        let done = RefCell::default();
        let ended = stopped_by(&stop, &done, body).map_err(|error| {
            let stopped = stopped(&error);
            (stopped.outcome(), stopped.attempts())
        });
        let cancelled = attempts.map(|attempts| (Outcome::Cancelled, attempts));
        assert_eq!((done.take(), ended.err()), (expected.to_vec(), cancelled));
    }
    assert!(began.elapsed() < Duration::from_secs(30));
}
