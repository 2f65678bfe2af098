#![allow(unused, reason = "each case is wrong in one thing")]

use std::io;

use reattempt::{Policy, run};

struct Foreign;

async fn foreign() -> Result<u8, Foreign> {
    Ok(1)
}

async fn fetch() -> io::Result<u8> {
    Ok(1)
}

mod no_verdict {
    //! expect: `Foreign` does not say which of its errors are worth another attempt

    use super::*;

    async fn call() {
        let _ = run!(attempts = 3, timeout = "1s", async || foreign().await).await;
    }
}

mod limit_in_the_result {
    //! expect: mismatched types

    use super::*;

    async fn call() -> Result<u8, Foreign> {
        run!(timeout = "1s", when = |_| true, async || foreign().await).await
    }
}

mod rule_of_values {
    //! expect: `[ErrorKind; 1]` is not a function that returns `bool`

    use super::*;

    const KINDS: [io::ErrorKind; 1] = [io::ErrorKind::TimedOut];

    async fn call() {
        let _ = run!(when = KINDS, async || fetch().await).await;
    }
}

mod not_awaited {
    //! expect: mismatched types

    use super::*;

    async fn call() {
        let _ = run!(attempts = 3, async || fetch()).await;
    }
}

mod hedged_change {
    //! expect: with `hedge` two attempts run at once, and they cannot both change what the closure captures

    use super::*;

    async fn call() {
        let mut calls = 0;
        let _ = run!(hedge = "10ms", async || {
            calls += 1;
            fetch().await
        })
        .await;
    }
}

mod rule_of_another_error {
    //! expect: type mismatch in closure arguments

    use super::*;

    async fn call() {
        let _ = run!(timeout = "1s", when = |_: &u8| true, async || foreign().await).await;
    }
}

mod delays_of_an_iterator {
    //! expect: `delays` is a `Map<std::ops::RangeInclusive<u64>, fn(u64) -> Duration {Duration::from_millis}>`, expected a list of durations

    use super::*;

    async fn call() {
        let delays = (1..=3).map(std::time::Duration::from_millis);
        let _ = run!(delays = delays, async || fetch().await).await;
    }
}

mod post_that_may_run_twice {
    //! expect: if the answer to this request is lost, another attempt sends it again, and the server may act on both

    async fn call(client: &reqwest::Client) {
        let _ = reattempt::run!(attempts = 3, async || client.post("a").send().await).await;
    }
}

mod error_of_a_client {
    //! expect: `reqwest::Error` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`

    async fn call(client: &reqwest::Client) {
        let _ = reattempt::run!(timeout = "1s", before_retry = async || (), async || client.get("a").send().await).await;
    }
}

mod left_by_break {
    //! expect: `break` inside `async` block

    use super::*;

    async fn call() {
        loop {
            let _ = run!(attempts = 3, async || {
                if fetch().await? == 1 {
                    break;
                }
                fetch().await
            })
            .await;
        }
    }
}

fn main() {}
