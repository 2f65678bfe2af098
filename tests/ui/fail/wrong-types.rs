//! Values of keys that have another type.

use std::io;

use reattempt::{Report, retry, run};

mod attempts_wrong_type {
    //! expect: mismatched types
    use super::*;

    const ATTEMPTS: usize = 4;

    #[retry(attempts = ATTEMPTS)]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod blocking_before_retry_future {
    //! expect: `before_retry` gives `impl Future<Output = Result<(), std::io::Error>>`, expected `()` or a `Result`
    use super::*;

    async fn reconnect() -> io::Result<()> {
        Ok(())
    }

    #[retry(blocking, before_retry = reconnect())]
    fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod budget_wrong_type {
    //! expect: `budget` is a `u32`, expected a `reattempt::Budget`
    use super::*;

    #[retry(budget = tokens)]
    async fn fetch(tokens: u32) -> std::io::Result<String> {
        Ok(tokens.to_string())
    }
}

mod idempotent_wrong_type {
    //! expect: mismatched types
    use super::*;

    #[retry(idempotent = method)]
    async fn fetch(method: &str) -> std::io::Result<String> {
        Ok(method.to_owned())
    }
}

mod policy_expression_wrong_type {
    //! expect: `policy` is a `Duration`, expected a `reattempt::Policy`
    use super::*;
    use std::time::Duration;

    struct Client {
        limit: Duration,
    }

    impl Client {
        #[retry(policy = self.limit)]
        async fn fetch(&self) -> std::io::Result<String> {
            Ok(String::new())
        }
    }
}

mod policy_wrong_type {
    //! expect: `policy` is a `u32`, expected a `reattempt::Policy`
    use super::*;

    const ATTEMPTS: u32 = 4;

    #[retry(policy = ATTEMPTS)]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod timeout_wrong_type {
    //! expect: a limit is a `u64`, expected a `Duration`
    use super::*;

    #[retry(timeout = limit)]
    async fn fetch(limit: u64) -> io::Result<u8> {
        Ok(0)
    }
}

mod timeout_wrong_constant {
    //! expect: a limit is a `u64`, expected a `Duration`
    use super::*;

    const LIMIT: u64 = 5;

    #[retry(timeout = LIMIT)]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod verdict_bool {
    //! expect: `bool` is no answer about an error, expected a `Verdict`
    use super::*;

    #[retry(verdict = |error: &io::Error| error.kind() == io::ErrorKind::TimedOut)]
    async fn fetch(addr: &str) -> io::Result<String> {
        Ok(addr.to_owned())
    }
}

mod when_closure_wrong_argument {
    //! expect: type mismatch in closure arguments
    use super::*;

    #[retry(when = |error: &String| error.is_empty())]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod when_ok_wrong_answer {
    //! expect: `u8` is no answer about an `Ok`, expected a `bool`
    use super::*;

    #[retry(when_ok = |value| *value)]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod when_ok_wrong_argument {
    //! expect: type mismatch in closure arguments
    use super::*;

    #[retry(when_ok = |value: &String| value.is_empty())]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod when_wrong_answer {
    //! expect: mismatched types
    use super::*;

    #[retry(when = |error| error.kind())]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod when_wrong_argument {
    //! expect: type mismatch in function arguments
    use super::*;

    fn is_temporary(error: &std::fmt::Error) -> bool {
        error.to_string().is_empty()
    }

    #[retry(when = is_temporary)]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod on_retry_async {
    //! expect: `for<'a, 'b> fn(&'a RetryEvent<'b, std::io::Error>) -> impl Future<Output = ()> {on_retry_async::note}` is not a function that returns `()`
    use super::*;
    use reattempt::RetryEvent;

    async fn note(_: &RetryEvent<'_, io::Error>) {}

    #[retry(on_retry = note)]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod on_end_async {
    //! expect: `for<'a> fn(&'a reattempt::Report) -> impl Future<Output = ()> {on_end_async::note}` is not a function that returns `()`
    use super::*;

    async fn note(_: &Report) {}

    #[retry(on_end = note)]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod when_async {
    //! expect: `for<'a> fn(&'a std::io::Error) -> impl Future<Output = bool> {when_async::is_temporary}` is not a function that returns `bool`
    use super::*;

    async fn is_temporary(_: &io::Error) -> bool {
        true
    }

    #[retry(when = is_temporary)]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod on_constant {
    //! expect: constant provided when a type was expected
    use super::*;

    const KINDS: &[io::ErrorKind] = &[io::ErrorKind::TimedOut];

    async fn fetch() -> io::Result<u8> {
        run!(on = KINDS, async || io::Result::Ok(1)).await
    }
}

mod cancel_no_future {
    //! expect: `Duration` is not a future, so it cannot cancel a call
    use super::*;
    use std::time::Duration;

    #[retry(cancel = Duration::from_secs(5))]
    async fn fetch(addr: &str) -> std::io::Result<String> {
        Ok(addr.to_owned())
    }
}

mod delays_iterator {
    //! expect: `delays` is a `Map<std::ops::Range<u64>, fn(u64) -> Duration {Duration::from_secs}>`, expected a list of durations
    use super::*;
    use std::time::Duration;

    #[retry(delays = (1..4).map(Duration::from_secs))]
    async fn fetch() -> std::io::Result<String> {
        Ok(String::new())
    }
}

mod return_alias_not_result {
    //! expect: `Option<u32>` is not a `Result`, so there is nothing to retry on
    use super::*;

    type Answer = Option<u32>;

    #[retry]
    async fn fetch() -> Answer {
        None
    }
}

mod on_end_wrong_argument {
    //! expect: type mismatch in function arguments
    use super::*;

    fn record(outcome: &str) {
        println!("{outcome}");
    }

    #[retry(on_end = record)]
    async fn fetch(addr: &str) -> std::io::Result<String> {
        Ok(addr.to_owned())
    }
}

mod before_retry_wrong_result {
    //! expect: `before_retry` gives `u16`, expected `()` or a `Result`
    use super::*;

    async fn reconnect() -> u16 {
        1
    }

    #[retry(before_retry = reconnect())]
    async fn fetch() -> io::Result<u8> {
        Ok(0)
    }
}

mod item_mut_self {
    //! expect: `mut self` would carry the changes of a failed attempt into the next
    use super::*;

    struct Client {
        calls: u32,
    }

    impl Client {
        #[retry]
        async fn fetch(mut self) -> io::Result<u32> {
            self.calls += 1;
            Ok(self.calls)
        }
    }
}

mod on_never_inside {
    //! expect: `std::io::Error` can never be found inside `Busy`
    use super::*;

    /// It does not implement `std::error::Error`, so the search cannot look for its causes.
    struct Busy;

    #[retry(on = "io::Error")]
    async fn fetch() -> Result<u8, Busy> {
        Err(Busy)
    }
}

mod on_never_inside_a_box {
    //! expect: `std::io::Error` can never be found inside `reattempt::Error<Box<dyn std::error::Error + Send + Sync>>`
    use super::*;
    use std::error::Error;

    #[retry(on = "io::Error", timeout = "1s")]
    async fn fetch() -> Result<u8, reattempt::Error<Box<dyn Error + Send + Sync>>> {
        Ok(7)
    }
}

mod derive_forward_without_verdict {
    //! expect: `Vec<u8>` has no verdict to forward
    use super::*;

    #[derive(reattempt::Retryable)]
    enum Error {
        #[retryable(forward)]
        Read(Vec<u8>),
    }
}

fn main() {}
