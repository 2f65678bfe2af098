//! The switch that turns retries off. It affects the whole process, so this is its own test binary.

use std::fmt::Debug;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reattempt::{Attempt, Outcome, Policy, is_enabled, retry, set_enabled, with_report};
use tokio::time::{Instant, Sleep, sleep, timeout};

const WAIT: Duration = Duration::from_secs(1);

#[retry(
    attempts = 4,
    base = "1s",
    jitter = "none",
    on = "io::Error",
    budget = "none",
    // It is not asked about a retry that does not follow.
    retry_after = |_| { assert!(is_enabled()); None }
)]
async fn fails(calls: &AtomicU32) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    Err(io::ErrorKind::ConnectionReset.into())
}

#[retry(
    attempts = 4,
    base = "1s",
    jitter = "none",
    on = "io::Error",
    budget = "none",
    cancel = stop
)]
async fn fails_until(calls: &AtomicU32, stop: Sleep) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    Err(io::ErrorKind::ConnectionReset.into())
}

#[retry(
    attempts = 4,
    timeout = "100ms",
    base = "1s",
    on = "io::Error",
    budget = "none"
)]
async fn hangs(calls: &AtomicU32) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    std::future::pending().await
}

#[retry(attempts = 4, base = "1s", budget = "none", until = |()| false)]
async fn is_never_ready(calls: &AtomicU32) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

#[retry(
    attempts = 4,
    deadline = "300ms",
    base = "1s",
    on = "io::Error",
    budget = "none"
)]
async fn hangs_to_its_deadline(calls: &AtomicU32) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    std::future::pending().await
}

/// Nothing can cut this body, so it asks how much of its deadline is left.
#[retry(
    blocking,
    attempts = 4,
    deadline = "1m",
    base = "1ms",
    on = "io::Error",
    budget = "none"
)]
fn blocks(calls: &AtomicU32) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    let left = Attempt::current().unwrap().remaining();
    assert!(
        left.is_some_and(|left| left <= Duration::from_secs(60)),
        "{left:?}"
    );
    Err(io::ErrorKind::ConnectionReset.into())
}

#[retry(
    attempts = "unlimited",
    max_delay = "1m",
    jitter = "none",
    on = "io::Error"
)]
async fn goes_on(calls: &AtomicU32) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    Err(io::ErrorKind::ConnectionReset.into())
}

/// With retries off, makes a call that ends like this after its first attempt.
async fn one_attempt<T: Debug>(
    call: impl AsyncFnOnce(&AtomicU32) -> io::Result<T>,
    kind: io::ErrorKind,
    outcome: Outcome,
    took: Duration,
) {
    let (calls, began) = (AtomicU32::new(0), Instant::now());
    // Without its limit the call would be pending forever.
    let ended = timeout(60 * WAIT, with_report(call(&calls))).await;
    let (result, report) = ended.expect("a limit holds");
    assert_eq!(result.unwrap_err().kind(), kind);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(report.unwrap().outcome(), outcome);
    assert_eq!(began.elapsed(), took);
}

#[tokio::test(start_paused = true)]
async fn with_retries_off_a_call_ends_after_its_current_attempt_and_limits_hold() {
    assert!(is_enabled());

    // A call in a wait makes the attempt after the wait, and no other. A call that is cancelled ends at once.
    let (calls, cancelled) = (AtomicU32::new(0), AtomicU32::new(0));
    let began = Instant::now();
    let (ended, ended_at_once, ()) = tokio::join!(
        with_report(fails(&calls)),
        async {
            let result = with_report(fails_until(&cancelled, sleep(WAIT / 2))).await;
            assert_eq!(began.elapsed(), WAIT / 2);
            result
        },
        async {
            sleep(WAIT / 2).await;
            set_enabled(false);
        }
    );
    assert_eq!(began.elapsed(), WAIT);
    ended.0.unwrap_err();
    let report = ended.1.unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    assert_eq!((report.attempts(), report.waited()), (2, WAIT));
    assert_eq!(report.outcome(), Outcome::Disabled);
    assert_eq!(cancelled.load(Ordering::Relaxed), 1);
    assert_eq!(ended_at_once.1.unwrap().outcome(), Outcome::Cancelled);

    assert!(!is_enabled());
    let (reset, timed_out) = (io::ErrorKind::ConnectionReset, io::ErrorKind::TimedOut);
    let [at_once, limit, longer] = [0, 100, 300].map(Duration::from_millis);
    one_attempt(fails, reset, Outcome::Disabled, at_once).await;
    one_attempt(hangs, timed_out, Outcome::Timeout, limit).await;
    one_attempt(hangs_to_its_deadline, timed_out, Outcome::Deadline, longer).await;
    one_attempt(is_never_ready, timed_out, Outcome::Disabled, at_once).await;
    let blocking = async |calls: &AtomicU32| blocks(calls);
    one_attempt(blocking, reset, Outcome::Disabled, at_once).await;

    // With unlimited attempts it goes on, after the longest delay each time, and as before once retries are on.
    let (calls, began) = (AtomicU32::new(0), Instant::now());
    assert!(timeout(590 * WAIT, goes_on(&calls)).await.is_err());
    assert_eq!(calls.load(Ordering::Relaxed), 10);
    let (calls, hour) = (AtomicU32::new(0), 3600 * WAIT);
    let on_again = async {
        sleep(90 * WAIT).await;
        set_enabled(true);
        sleep(hour).await;
    };
    let call = timeout(100 * WAIT, goes_on(&calls));
    tokio::select! {
        ended = call => assert!(ended.is_err()),
        () = on_again => unreachable!("{:?}", began.elapsed()),
    }
    // At 0 and 60 s; the next one would be at 120 s.
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    set_enabled(false);

    // The same without the attribute.
    let policy = Policy::new().with_attempts(4).with_base(WAIT);
    #[rustfmt::skip]
    let cases = [
        (policy.clone(), false, Outcome::Disabled, at_once),
        (policy.clone().with_timeout(limit), true, Outcome::Timeout, limit),
        (policy.with_deadline(longer), true, Outcome::Deadline, longer),
    ];
    for (policy, pending, outcome, took) in cases {
        let run = async |calls: &AtomicU32| {
            let body = async || {
                calls.fetch_add(1, Ordering::Relaxed);
                if pending {
                    std::future::pending::<()>().await;
                }
                Err::<(), _>(io::Error::from(reset))
            };
            policy.run(body).await
        };
        let kind = if pending { timed_out } else { reset };
        one_attempt(run, kind, outcome, took).await;
    }

    set_enabled(true);
    let calls = AtomicU32::new(0);
    fails(&calls).await.unwrap_err();
    assert_eq!(calls.load(Ordering::Relaxed), 4);
}

/// The test above holds it. The other pages link to the one that says it.
#[test]
fn one_page_says_what_a_call_in_a_wait_does_when_retries_are_off() {
    let expected = "A call that waits goes on waiting, makes one more attempt and then ends.";
    let link = "cancelling.md#turn-retries-off";
    for (page, text, says) in [
        (
            "cancelling",
            include_str!("../src/guide/cancelling.md"),
            true,
        ),
        (
            "configuring",
            include_str!("../src/guide/configuring.md"),
            false,
        ),
        ("OPERATING", include_str!("../docs/OPERATING.md"), false),
    ] {
        let words: Vec<_> = text.split_whitespace().collect();
        assert_eq!(words.join(" ").contains(expected), says, "{page}");
        assert_ne!(text.contains(link), says, "{page}");
    }
}
