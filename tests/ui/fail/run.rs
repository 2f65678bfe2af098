//! Closures and what they are given, by type.

mod run_blocking_awaited {
    //! expect: `Result<Vec<u8>, std::io::Error>` is not a future of a `Result`

    use std::{fs, io};

    use reattempt::FAST_IO;

    async fn call() -> io::Result<Vec<u8>> {
        FAST_IO.run_blocking(|| fs::read("settings.toml")).await
    }

    fn main() {
        let _ = call();
    }
}

mod run_blocking_cancel {
    //! expect: `Result<Vec<u8>, std::io::Error>` is not a future

    use std::future::pending;
    use std::{fs, io};

    use reattempt::FAST_IO;

    fn call() -> io::Result<Vec<u8>> {
        FAST_IO.run_blocking(|| fs::read("settings.toml")).with_cancel(pending::<()>()).call()
    }

    fn main() {
        let _ = call();
    }
}

mod run_blocking_closure {
    //! expect: `Result<Vec<u8>, std::io::Error>` is not a future of a `Result`
    //! errors: 2

    use std::{fs, io};

    use reattempt::FAST_IO;

    async fn call() -> io::Result<Vec<u8>> {
        FAST_IO.run(|| fs::read("settings.toml")).await
    }

    fn main() {
        let _ = call();
    }
}

mod run_delays_iterator {
    //! expect: `delays` is a `Map<std::ops::RangeInclusive<u64>, fn(u64) -> Duration {Duration::from_millis}>`, expected a list of durations

    use std::io;
    use std::time::Duration;

    use reattempt::FAST_IO;

    async fn call() -> io::Result<u8> {
        let delays = (1..=3).map(Duration::from_millis);
        FAST_IO.run(async || io::Result::Ok(7)).with_delays(delays).await
    }

    fn main() {
        let _ = call();
    }
}

mod run_error_of_client {
    //! expect: mismatched types

    use reattempt::FAST_IO;

    async fn fetch(client: reqwest::Client) -> Result<reqwest::Response, reqwest::Error> {
        FAST_IO.run(|| client.get("https://shop.example").send()).await
    }

    fn main() {
        let _ = fetch;
    }
}

mod run_no_result {
    //! expect: `{async closure body@$DIR/fail/run.rs:92:30: 92:31}` is not a future of a `Result`
    //! errors: 2

    use reattempt::FAST_IO;

    async fn call() {
        FAST_IO.run(async || 7).await;
    }

    fn main() {
        let _ = call();
    }
}

mod run_no_text {
    //! expect: `Failure` doesn't implement `std::fmt::Display`

    use reattempt::NO_RETRY;

    struct Failure;

    async fn call() -> Result<u8, Failure> {
        NO_RETRY.without_limits().run(async || Err(Failure)).when_any(|_| true).await
    }

    fn main() {
        let _ = call();
    }
}

mod run_on_anyhow {
    //! expect: `on` cannot look inside `anyhow::Error`

    use std::io;

    use reattempt::FAST_IO;

    async fn fetch() -> anyhow::Result<u8> {
        FAST_IO.run(async || Ok(7)).on::<io::Error>().await
    }

    fn main() {
        let _ = fetch;
    }
}

mod run_on_string {
    //! expect: `on` cannot look inside `String`

    use std::io;

    use reattempt::FAST_IO;

    async fn call() -> Result<u8, String> {
        FAST_IO.run(async || Err("busy".to_owned())).on::<io::Error>().await
    }

    fn main() {
        let _ = call();
    }
}

mod run_until_without_limits {
    //! expect: `until` and `with_cancel` end with a `Stopped`, but nothing stops a run of a policy `without_limits`

    use reattempt::Policy;

    async fn call() -> Result<u8, String> {
        let run = Policy::new().without_limits().run(async || Ok::<u8, String>(1));
        run.when_any(|_| true).until(|done| *done == 2).await
    }

    fn main() {
        drop(call());
    }
}

mod run_when_no_verdict {
    //! expect: `String` does not say which of its errors are worth another attempt

    use reattempt::FAST_IO;

    async fn fetch() -> Result<u8, String> {
        FAST_IO.run(async || Err("busy".to_owned())).when(|_| true).await
    }

    fn main() {
        let _ = fetch;
    }
}

mod run_without_a_rule {
    //! expect: `String` does not say which of its errors are worth another attempt

    use reattempt::FAST_IO;

    async fn call() -> Result<u8, String> {
        FAST_IO.run(async || Err("busy".to_owned())).await
    }

    fn main() {
        let _ = call();
    }
}

mod cancel_no_future {
    //! expect: `tokio::sync::watch::Receiver<bool>` is not a future, so it cannot cancel a call
    use std::io;

    use reattempt::FAST_IO;
    use tokio::sync::watch;

    async fn fetch(shutdown: watch::Receiver<bool>) -> io::Result<()> {
        FAST_IO.run(async || io::Result::Ok(())).with_cancel(shutdown).await
    }
}

fn main() {}
