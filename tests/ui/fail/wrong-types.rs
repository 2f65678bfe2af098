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

fn main() {}
