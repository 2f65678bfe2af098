//! Edge cases of the limits: limits above a day, a body that blocks, a runtime without timers.

use std::io;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use reattempt::{Outcome, retry};

use crate::script::{RESET, Script, Step, ms, stopped};

#[tokio::test(start_paused = true)]
async fn a_wait_above_a_day_lasts_as_long_as_it_says() {
    const DAYS: Duration = Duration::from_secs(3 * 24 * 60 * 60);
    plays! { call(attempts = 2, base = DAYS, max_delay = DAYS, jitter = "none") }
    let script = Script::new([RESET, Step::Succeed]);
    assert_eq!(call(&script).await.unwrap(), 2);
    assert_eq!(script.elapsed(), DAYS);
}

#[tokio::test(start_paused = true)]
async fn a_call_cut_by_its_deadline_says_its_limit() {
    plays!(call(attempts = 2, deadline = "1s"));
    let error = call(&Script::new([Step::Hang])).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    let stopped = stopped(&error);
    assert_eq!(stopped.outcome(), Outcome::Deadline);
    assert_eq!(stopped.limit(), Some(ms(1000)));
    assert_eq!(
        stopped.to_string(),
        "deadline of 1s reached (1 attempt, 1s)"
    );
}

/// Only a body that suspends can be cut, as the documentation says.
#[tokio::test]
async fn a_body_that_blocks_is_not_cut_and_its_result_counts() {
    #[retry(attempts = 1, timeout = "1ms", deadline = "2ms")]
    async fn blocks() -> io::Result<u8> {
        std::thread::sleep(ms(5));
        Ok(1)
    }
    assert_eq!(blocks().await.unwrap(), 1);
}

plays!(once_more(attempts = 2));

/// The result of a call, or the text of its panic.
fn panic_of(call: impl FnOnce() -> io::Result<usize>) -> Result<io::Result<usize>, String> {
    std::panic::catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_default()
    })
}

/// A success needs no timer. A wait without timers panics with the reason, and does not hang.
#[test]
fn without_a_time_driver_only_a_wait_panics() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let run = |steps: [Step; 1]| {
        panic_of(|| runtime.block_on(async { once_more(&Script::new(steps)).await }))
    };
    assert_eq!(run([Step::Succeed]).unwrap().unwrap(), 1);
    let told = run([RESET]).unwrap_err();
    assert!(
        told.contains("once_more") && told.contains("enable_time"),
        "{told}"
    );
}

#[test]
fn a_runtime_without_timers_is_told_which_function_needs_them() {
    #[retry(budget = "none", timeout = "1s")]
    async fn limits_its_attempts() -> io::Result<usize> {
        std::future::pending().await
    }
    #[retry(budget = "none", deadline = "1s")]
    async fn limits_the_whole_call() -> io::Result<usize> {
        std::future::pending().await
    }
    #[retry(budget = "none", name = "of another name")]
    async fn named() -> io::Result<usize> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for (told, function) in [
        (
            panic_of(|| runtime.block_on(limits_its_attempts())),
            "limits_its_attempts",
        ),
        (
            panic_of(|| runtime.block_on(limits_the_whole_call())),
            "limits_the_whole_call",
        ),
        (panic_of(|| runtime.block_on(named())), "of another name"),
    ] {
        let told = told.unwrap_err();
        assert!(told.contains(function), "{function}: {told}");
        assert!(told.contains("enable_time"), "{function}: {told}");
    }
}

/// The same on an executor of another crate.
#[test]
fn without_a_runtime_only_a_wait_panics() {
    let run = |steps: [Step; 1]| {
        panic_of(|| futures::executor::block_on(async { once_more(&Script::new(steps)).await }))
    };
    assert_eq!(run([Step::Succeed]).unwrap().unwrap(), 1);
    let told = run([RESET]).unwrap_err();
    assert!(told.contains("none runs here"), "{told}");
    assert!(!told.contains("enable_time"), "{told}");
}
