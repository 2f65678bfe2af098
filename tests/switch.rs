//! The switch that turns retries off. It affects the whole process, so this is its own test binary.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reattempt::{Outcome, is_enabled, observe, retry, set_enabled};
use tokio::time::{Instant, sleep};

const WAIT: Duration = Duration::from_secs(1);

#[retry(
    attempts = 4,
    base = "1s",
    jitter = "none",
    on = "io::Error",
    budget = "none"
)]
async fn fails(calls: &AtomicU32) -> io::Result<()> {
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

#[tokio::test(start_paused = true)]
async fn with_retries_off_a_call_ends_after_its_current_attempt_and_limits_hold() {
    assert!(is_enabled());

    // A call in a wait makes the attempt after the wait, and no other.
    let calls = AtomicU32::new(0);
    let (ended, ()) = tokio::join!(observe(fails(&calls)), async {
        sleep(WAIT / 2).await;
        set_enabled(false);
    });
    ended.0.unwrap_err();
    let report = ended.1.unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    assert_eq!((report.attempts(), report.waited()), (2, WAIT));
    assert_eq!(report.outcome(), Outcome::Disabled);

    assert!(!is_enabled());
    let calls = AtomicU32::new(0);
    let (result, report) = observe(fails(&calls)).await;
    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(report.unwrap().outcome(), Outcome::Disabled);

    let (calls, began) = (AtomicU32::new(0), Instant::now());
    let (result, report) = observe(hangs(&calls)).await;
    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(report.unwrap().outcome(), Outcome::Timeout);
    assert_eq!(began.elapsed(), Duration::from_millis(100));

    set_enabled(true);
    let calls = AtomicU32::new(0);
    fails(&calls).await.unwrap_err();
    assert_eq!(calls.load(Ordering::Relaxed), 4);
}
