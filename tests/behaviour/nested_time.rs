//! A call remembers failed retries for the `max_delay` of the function that retried.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::time::Duration;

use reattempt::retry;
use tokio::time::sleep;

use crate::script::{RESET, Script, ms};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn fetch(host: &Script) -> io::Result<usize> {
    host.play().await
}

/// Makes two attempts at `body`, with this wait between them.
#[retry(
    attempts = 2,
    base = wait,
    max_delay = wait,
    backoff = "constant",
    jitter = "none",
    budget = "none"
)]
async fn twice(wait: Duration, body: impl AsyncFn() -> io::Result<usize>) -> io::Result<usize> {
    body().await
}

#[tokio::test(start_paused = true)]
async fn failed_retries_are_forgotten_after_the_functions_own_max_delay() {
    #[retry(attempts = 4, base = "1ms", max_delay = "1s", budget = "none")]
    async fn brief(host: &Script) -> io::Result<usize> {
        host.play().await
    }
    #[retry(attempts = 4, base = "1ms", max_delay = "5m", budget = "none")]
    async fn long(host: &Script) -> io::Result<usize> {
        host.play().await
    }
    for (wait, of_brief, of_long) in [
        (ms(900), 4 + 1, 4 + 1),
        (ms(1100), 4 + 4, 4 + 1),
        (seconds(290), 4 + 4, 4 + 1),
        (seconds(310), 4 + 4, 4 + 4),
    ] {
        let host = Script::new([RESET]);
        let ended = twice(wait, async || brief(&host).await).await;
        ended.unwrap_err();
        assert_eq!(host.calls(), of_brief, "brief, {wait:?}");
        let host = Script::new([RESET]);
        let ended = twice(wait, async || long(&host).await).await;
        ended.unwrap_err();
        assert_eq!(host.calls(), of_long, "long, {wait:?}");
    }
}

/// The outer call remembers the function in the middle for a minute, and the innermost function for 20 s.
#[tokio::test(start_paused = true)]
async fn each_function_of_a_chain_is_forgotten_after_its_own_max_delay() {
    #[retry(attempts = 4, base = "1ms", max_delay = "1m", budget = "none")]
    async fn between(host: &Script, attempts: &Cell<u32>) -> io::Result<usize> {
        attempts.set(attempts.get() + 1);
        fetch(host).await
    }
    for (wait, calls, between_calls) in [(19, 7 + 1, 4 + 1), (21, 7 + 4, 4 + 1), (61, 7 + 7, 4 + 4)]
    {
        let (host, attempts) = (Script::new([RESET]), Cell::new(0));
        let body = async || between(&host, &attempts).await;
        twice(seconds(wait), body).await.unwrap_err();
        let made = (host.calls(), attempts.get());
        assert_eq!(made, (calls, between_calls), "{wait} s");
    }
}

/// The function calls itself, and fails inside. Its outer call succeeds later, which makes no call remember
/// the retries inside for longer.
#[tokio::test(start_paused = true)]
async fn a_call_that_succeeds_does_not_lengthen_the_memory_of_a_call_of_its_function_inside() {
    #[retry(attempts = 4, base = "1ms", max_delay = "1s", budget = "none")]
    async fn visit(depth: u32, host: &Script) -> io::Result<usize> {
        if depth == 0 {
            return host.play().await;
        }
        let inside = Box::pin(visit(depth - 1, host)).await;
        sleep(ms(900)).await;
        inside.or(Ok(0))
    }
    for (wait, calls) in [(ms(50), 4 + 1), (ms(500), 4 + 4)] {
        let host = Script::new([RESET]);
        let body = async || {
            visit(1, &host)
                .await
                .and(Err(ErrorKind::ConnectionReset.into()))
        };
        twice(wait, body).await.unwrap_err();
        assert_eq!(host.calls(), calls, "{wait:?}");
    }
}
