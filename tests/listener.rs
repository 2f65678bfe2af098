//! The listener of the process gets a report of each call that ends.

use std::io;
use std::sync::Mutex;
use std::time::Duration;

use reattempt::{Outcome, Policy, retry, set_listener};
use tokio::time::{sleep, timeout};

static SEEN: Mutex<Vec<(&str, u32, Outcome, Duration)>> = Mutex::new(Vec::new());

#[retry(name = "fails", base = "100ms", jitter = "none")]
async fn fails() -> io::Result<()> {
    Err(io::ErrorKind::ConnectionReset.into())
}

#[retry(name = "outer", attempts = 1)]
async fn outer() -> io::Result<()> {
    let _ = fails().await;
    sleep(Duration::from_secs(1)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_listener_of_the_process_gets_the_report_of_each_call() {
    let installed = set_listener(|report| {
        let mut seen = SEEN.lock().unwrap();
        seen.push((
            report.function(),
            report.attempts(),
            report.outcome(),
            report.elapsed(),
        ));
    });
    assert!(installed);
    assert!(!set_listener(|_| unreachable!("the first one stays")));
    let at = Duration::from_millis;
    let failed = ("fails", 3, Outcome::AttemptsExhausted, at(300));
    tokio::spawn(outer()).await.unwrap().unwrap();
    let _ = timeout(at(500), outer()).await;
    let run = Policy::new()
        .run(async || io::Result::Ok(1))
        .with_name("run");
    run.await.unwrap();
    let seen = SEEN.lock().unwrap().split_off(0);
    assert_eq!(
        seen,
        [
            failed,
            ("outer", 1, Outcome::Success, at(1_300)),
            failed,
            ("outer", 1, Outcome::Dropped, at(500)),
            ("run", 1, Outcome::Success, Duration::ZERO),
        ]
    );
}
