//! The memory of a call: few allocations, and a future of bounded size.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use allocation_counter::measure;
use reattempt::{
    Attempt, Budget, FAST_IO, Policy, Retryable, Stopped, deadline, retry, run, with_report,
};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

#[retry(attempts = 3, base = "1ms", on = "io::Error")]
async fn untimed(calls: &mut u32, failures: u32) -> io::Result<u32> {
    fail_at_first(calls, failures)
}

#[retry(
    attempts = 3,
    base = "1ms",
    timeout = "1s",
    deadline = "5s",
    on = "io::Error"
)]
async fn timed(calls: &mut u32, failures: u32) -> io::Result<u32> {
    *calls += 1;
    tokio::task::yield_now().await;
    if *calls <= failures {
        Err(reset())
    } else {
        Ok(*calls)
    }
}

/// An `Ok` that means failure.
#[retry(attempts = 3, base = "1ms", when_ok = |calls| *calls < 3, on = "io::Error")]
async fn unready(calls: &mut u32) -> io::Result<u32> {
    *calls += 1;
    Ok(*calls)
}

static SHARED: Budget = Budget::new();

/// A function with everything that bounds a call, for use within another call.
#[retry(attempts = 3, base = "1ms", budget = "SHARED", cancel = std::future::pending::<()>())]
async fn bounded(calls: &mut u32) -> io::Result<()> {
    assert!(deadline::remaining().is_some());
    timed(calls, 0).await?;
    untimed(calls, 0).await?;
    Ok(())
}

/// A function whose body reads everything about its attempt.
#[retry(attempts = 3, base = "1ms", budget = "SHARED")]
async fn asking(calls: &mut u32, failures: u32) -> io::Result<u128> {
    *calls += 1;
    let attempt = Attempt::current().ok_or_else(reset)?;
    let key = attempt.idempotency_key().as_u128();
    if *calls <= failures {
        Err(reset())
    } else {
        Ok(key
            ^ Attempt::current()
                .ok_or_else(reset)?
                .idempotency_key()
                .as_u128())
    }
}

/// An error type that does not allocate.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("busy")]
    Busy,
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// The first attempt fails if `fails_first` is set. Every other attempt hangs until it is cut.
#[retry(attempts = 2, base = "1ms", timeout = "1s", when = |_| true)]
async fn hangs(calls: &mut u32, fails_first: bool) -> Result<(), Failure> {
    *calls += 1;
    if fails_first && *calls == 1 {
        return Err(Failure::Busy);
    }
    std::future::pending().await
}

/// Runs a call twice on a paused runtime, and counts the allocations of the second run. The first run seeds the
/// generator of the thread and sets up tokio's timer.
fn allocations(mut call: impl AsyncFnMut()) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        call().await;
    });
    // The clock needs its own runtime. Entering it does not allocate.
    measure(|| runtime.block_on(async { call().await })).count_total
}

/// The allocations of the runtime itself, without a call.
fn baseline() -> u64 {
    allocations(async || {
        for _ in 0..4 {
            tokio::time::sleep(Duration::from_millis(1)).await;
            // The runtime puts a task that yields on a list, which allocates.
            tokio::task::yield_now().await;
        }
    })
}

#[test]
fn no_path_allocates() {
    let baseline = baseline();
    let success = allocations(async || {
        untimed(&mut 0, 0).await.unwrap();
        timed(&mut 0, 0).await.unwrap();
    });
    let retried = allocations(async || {
        untimed(&mut 0, 2).await.unwrap();
        timed(&mut 0, 2).await.unwrap();
    });
    let failed = allocations(async || {
        untimed(&mut 0, 9).await.unwrap_err();
        timed(&mut 0, 9).await.unwrap_err();
    });
    assert_eq!((success, retried, failed), (baseline, baseline, baseline));

    let unready = allocations(async || assert_eq!(unready(&mut 0).await.unwrap(), 3));
    assert_eq!(unready, 0, "its body never yields to the runtime");

    let bounded = allocations(async || {
        deadline::scope(Duration::from_secs(9), async {
            bounded(&mut 0).await.unwrap();
        })
        .await;
    });
    assert_eq!(bounded, baseline + 6, "for its two calls inside");
}

/// Makes this many calls of one function, and of another.
#[retry(attempts = 3, base = "1ms", on = "io::Error")]
async fn around(calls: &mut u32, of_one: u32, of_other: u32) -> io::Result<()> {
    for _ in 0..of_one {
        untimed(calls, 0).await?;
    }
    for _ in 0..of_other {
        timed(calls, 0).await?;
    }
    Ok(())
}

/// The page on promises says so.
#[test]
fn a_call_inside_allocates_once_and_the_outer_call_four_times() {
    let around = |of_one, of_other| {
        let before = allocations(async || {
            for _ in 0..of_other {
                timed(&mut 0, 0).await.unwrap();
            }
        });
        allocations(async || around(&mut 0, of_one, of_other).await.unwrap()) - before
    };
    assert_eq!(around(0, 0), 0);
    assert_eq!([around(1, 0), around(0, 1)], [4 + 1; 2]);
    assert_eq!(
        [around(2, 0), around(1, 1), around(2, 2)],
        [4 + 2, 4 + 2, 4 + 4]
    );
}

/// Only the first use in a call allocates, whatever the body reads, and however often.
#[test]
fn reading_the_attempt_allocates_once_in_a_call() {
    let asking =
        |failures| allocations(async || assert_eq!(asking(&mut 0, failures).await.unwrap(), 0));
    assert_eq!((asking(0), asking(2)), (1, 1));
}

/// Takes the body of a request by value.
fn send(_: impl AsRef<[u8]>, calls: &mut u32, failures: u32) -> io::Result<u32> {
    fail_at_first(calls, failures)
}

#[retry(attempts = 3, base = "1ms", on = "io::Error")]
async fn send_owned(body: Vec<u8>, calls: &mut u32, failures: u32) -> io::Result<u32> {
    send(body, calls, failures)
}

#[retry(attempts = 3, base = "1ms", on = "io::Error")]
async fn send_shared(body: Arc<[u8]>, calls: &mut u32, failures: u32) -> io::Result<u32> {
    send(body, calls, failures)
}

#[retry(attempts = 3, base = "1ms", on = "io::Error")]
async fn send_borrowed(body: &[u8], calls: &mut u32, failures: u32) -> io::Result<u32> {
    send(body, calls, failures)
}

/// `docs/PERFORMANCE.md` has these numbers.
#[test]
fn a_body_that_is_taken_by_value_is_copied_for_each_attempt_and_a_shared_one_never() {
    let body = vec![7; 1 << 20];
    let shared: Arc<[u8]> = body.clone().into();
    for (failures, copies) in [(0, 1), (2, 3)] {
        let owned = allocations(async || {
            // The caller's own copy, which the call takes.
            let body = body.clone();
            send_owned(body, &mut 0, failures).await.unwrap();
        });
        let shared = allocations(async || {
            let body = Arc::clone(&shared);
            send_shared(body, &mut 0, failures).await.unwrap();
        });
        let borrowed = allocations(async || {
            send_borrowed(&body, &mut 0, failures).await.unwrap();
        });
        assert_eq!((owned, shared), (1 + copies + borrowed, borrowed));
    }
}

#[retry(attempts = 3, base = "1ms", jitter = "decorrelated", on = "io::Error")]
async fn decorrelated(calls: &mut u32, failures: u32) -> io::Result<u32> {
    fail_at_first(calls, failures)
}

#[retry(attempts = 3, base = "1ms", on_retry = |_| (), on = "io::Error")]
async fn tells(calls: &mut u32, failures: u32) -> io::Result<u32> {
    fail_at_first(calls, failures)
}

#[retry(attempts = 3, base = "1ms", on_end = |_| (), on = "io::Error")]
async fn tells_its_end(calls: &mut u32, failures: u32) -> io::Result<u32> {
    fail_at_first(calls, failures)
}

fn fail_at_first(calls: &mut u32, failures: u32) -> io::Result<u32> {
    *calls += 1;
    if *calls <= failures {
        Err(reset())
    } else {
        Ok(*calls)
    }
}

/// The page on promises says so.
#[test]
fn a_retry_allocates_once_with_decorrelated_jitter_or_if_somebody_listens() {
    for (failures, expected) in [(0, 0), (1, 1), (2, 1)] {
        let allocated = [
            allocations(async || assert!(decorrelated(&mut 0, failures).await.is_ok())),
            allocations(async || assert!(tells(&mut 0, failures).await.is_ok())),
            allocations(async || assert!(tells_its_end(&mut 0, failures).await.is_ok())),
            allocations(async || assert!(with_report(untimed(&mut 0, failures)).await.0.is_ok())),
        ];
        assert_eq!(allocated, [expected; 4], "{failures} failures");
    }
}

#[test]
fn a_policy_boxes_its_operation_unless_it_is_told_not_to() {
    const POLICY: Policy = Policy::new();
    let operation = async || io::Result::Ok(());
    let boxed = allocations(async || assert!(POLICY.run(operation).await.is_ok()));
    let unboxed = allocations(async || assert!(POLICY.run(operation).unboxed().await.is_ok()));
    assert_eq!((boxed, unboxed), (1, 0));
    let limit = io::ErrorKind::TimedOut;
    let ruled = allocations(async || {
        let run = POLICY.run(operation).when(|error| error.kind() != limit);
        assert!(run.unboxed().await.is_ok());
    });
    assert_eq!(ruled, 2, "the box of a rule, and the list of its kind");
}

/// A `Stopped` keeps the error of an earlier attempt in a box.
#[test]
fn a_stopped_call_allocates_only_for_the_error_of_an_earlier_attempt() {
    let stopped = |fails_first| {
        allocations(async || {
            let error = hangs(&mut 0, fails_first).await.unwrap_err();
            let Failure::Stopped(stopped) = &error else {
                panic!("{error:?}");
            };
            assert_eq!(stopped.source().is_some(), fails_first);
        })
    };
    assert_eq!((stopped(false), stopped(true)), (0, 1));
}

/// What happens in a call.
#[derive(Debug, Default)]
struct Plan {
    /// How many attempts fail.
    failures: u32,
    /// Which attempt hangs until it is cut.
    hangs: u32,
    /// Whether the attempts ask for their key.
    asks: bool,
    /// When the call is dropped.
    dropped: Duration,
}

/// Its errors and its value allocate.
async fn planned(calls: &mut u32, plan: &Plan) -> io::Result<Box<u32>> {
    *calls += 1;
    if plan.asks {
        let attempt = Attempt::current().ok_or_else(reset)?;
        assert!(attempt.idempotency_key().as_u128() > 0);
    }
    if *calls == plan.hangs {
        std::future::pending::<()>().await;
    }
    if *calls <= plan.failures {
        let text = format!("reset in attempt {calls}");
        return Err(io::Error::new(io::ErrorKind::ConnectionReset, text));
    }
    Ok(Box::new(*calls))
}

#[retry(
    delays = ["8ms", "8ms", "8ms"],
    timeout = "12ms",
    budget = "none",
    on = "io::Error"
)]
async fn keeps(calls: &mut u32, plan: &Plan) -> io::Result<Box<u32>> {
    planned(calls, plan).await
}

/// The same with a hook, around another call.
#[retry(
    delays = ["8ms"],
    timeout = "60ms",
    budget = "none",
    on_end = |report| assert!(report.attempts() > 0),
    on = "io::Error"
)]
async fn reports(calls: &mut u32, plan: &Plan) -> io::Result<Box<u32>> {
    keeps(calls, plan).await
}

/// A call drops the error that it keeps, and what it shares with its attempts.
#[test]
fn a_call_leaks_nothing_however_it_ends() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    // The first call with a recorder makes the names of its series. Without optimisation, no recorder counts as one.
    runtime.block_on(carry_out(&Plan::default()));
    let mut ends = BTreeSet::new();
    for number in 0..5 * 5 * 2 * 30 {
        let plan = Plan {
            failures: number % 5,
            hangs: number / 5 % 5,
            asks: number / 25 % 2 == 0,
            dropped: Duration::from_millis(u64::from(number / 50) * 3),
        };
        let mut both = [""; 2];
        let leaked = measure(|| both = runtime.block_on(carry_out(&plan)));
        assert_eq!(
            (leaked.count_current, leaked.bytes_current),
            (0, 0),
            "{plan:?}: {both:?}"
        );
        ends.extend(both);
    }
    let all = ["dropped", "failed", "stopped", "succeeded"];
    assert!(ends.iter().eq(&all), "only these ends were seen: {ends:?}");
}

/// Returns how two calls ended: one alone, and one within another call.
async fn carry_out(plan: &Plan) -> [&'static str; 2] {
    let end = |result: Result<io::Result<Box<u32>>, Elapsed>| match result {
        Err(_) => "dropped",
        Ok(Ok(_)) => "succeeded",
        Ok(Err(error)) if error.kind() == io::ErrorKind::TimedOut => "stopped",
        Ok(Err(_)) => "failed",
    };
    [
        end(timeout(plan.dropped, keeps(&mut 0, plan)).await),
        end(timeout(plan.dropped, reports(&mut 0, plan)).await),
    ]
}

/// A body of some size.
async fn body(input: &[u64; 8]) -> io::Result<u64> {
    let copy = *input;
    tokio::task::yield_now().await;
    Ok(copy.iter().sum())
}

/// A function with that body.
macro_rules! sums {
    ($name:ident($($keys:tt)*)) => {
        #[retry($($keys)*)]
        async fn $name(input: &[u64; 8]) -> io::Result<u64> {
            body(input).await
        }
    };
}

async fn plain(input: &[u64; 8]) -> io::Result<u64> {
    body(input).await
}

#[retry]
async fn defaults(input: &[u64; 8]) -> io::Result<u64> {
    body(input).await
}

sums! { limited(attempts = 4, timeout = "1.5s", jitter = "full", on = "io::Error", deadline = "5s") }

sums! { preset(policy = FAST_IO) }

async fn plain_owner(input: [u64; 8]) -> io::Result<u64> {
    body(&input).await
}

async fn plain_hand(input: [u64; 8]) -> io::Result<u64> {
    plain_owner(input).await
}

#[retry(timeout = "1s")]
async fn borrows_what_it_owns(input: [u64; 8]) -> io::Result<u64> {
    body(&input).await
}

#[retry(timeout = "1s")]
async fn hands_over_what_it_owns(input: [u64; 8]) -> io::Result<u64> {
    plain_owner(input).await
}

sums! { timed_out(timeout = "1s") }

sums! { hooked(on_retry = |_| (), on_end = |_| ()) }

/// A future of 64 bytes.
async fn of_64_bytes() {
    let bytes = std::hint::black_box([0_u8; 63]);
    tokio::task::yield_now().await;
    std::hint::black_box(bytes);
}

sums! { cancelled(cancel = of_64_bytes()) }

sums! { prepared(before_retry = of_64_bytes(), timeout = "1s", cancel_waits = of_64_bytes()) }

#[derive(Debug, thiserror::Error, Retryable)]
#[error("large")]
#[retryable(transient)]
struct Large([u8; 512]);

impl From<Stopped> for Large {
    fn from(_: Stopped) -> Self {
        Self([0; 512])
    }
}

async fn plain_large(input: &[u64; 8]) -> Result<u64, Large> {
    Ok(body(input).await.unwrap_or_default())
}

#[retry(timeout = "1s")]
async fn keeps_large(input: &[u64; 8]) -> Result<u64, Large> {
    plain_large(input).await
}

#[retry]
async fn drops_large(input: &[u64; 8]) -> Result<u64, Large> {
    plain_large(input).await
}

fn over<F: Future>(plain: usize, annotated: &F) -> usize {
    size_of_val(annotated) - plain
}

sums! { hedged(attempts = 3, timeout = "1s", hedge = "20ms") }

/// The future has at most 272 bytes more than that of the plain function. With limits, the error adds its size, because it is kept
/// between attempts. The futures of keys add theirs, and that of `cancel` a pointer and a flag. An argument that is handed over adds
/// its size twice: for the clone, and for the original, which the plain function drops once it is passed on.
#[test]
fn the_future_stays_small() {
    let input = [0; 8];
    let reference = size_of_val(&plain(&input));
    let owner = size_of_val(&plain_owner(input));
    let hand = size_of_val(&plain_hand(input));
    let large = size_of_val(&plain_large(&input));
    let key = size_of_val(&of_64_bytes());
    let lent = &input;
    let closure = run!(
        attempts = 4,
        timeout = "1.5s",
        jitter = "full",
        on = "io::Error",
        deadline = "5s",
        async || body(lent).await
    );
    #[rustfmt::skip]
    let sizes = [
        ("defaults", over(reference, &defaults(&input)), 272),
        ("limited", over(reference, &limited(&input)), 272),
        ("preset", over(reference, &preset(&input)), 272),
        ("closure", over(reference, &closure), 272),
        ("timeout", over(reference, &timed_out(&input)), 272),
        ("hooks", over(reference, &hooked(&input)), 272),
        // A second body, a second timer, and what the race needs.
        ("hedge", over(reference, &hedged(&input)), 272 + reference + 288),
        ("cancel", over(reference, &cancelled(&input)), 272 + key + 32),
        ("before_retry and cancel_waits", over(reference, &prepared(&input)), 272 + 2 * key + 32),
        ("error", over(large, &keeps_large(&input)), 272 + 512),
        ("error without limits", over(large, &drops_large(&input)), 272),
        ("borrows what it owns", over(owner, &borrows_what_it_owns(input)), 272),
        ("hands over what it owns", over(hand, &hands_over_what_it_owns(input)), 272 + 2 * 64),
    ];
    for (name, over, _) in sizes {
        println!("{name}: {over} bytes over the plain function");
    }
    for (name, over, most) in sizes {
        assert!(
            over <= most,
            "{name}: {over} bytes over the plain function, at most {most}"
        );
    }
}
