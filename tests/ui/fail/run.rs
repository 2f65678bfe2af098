//! Closures and what they are given, by type.

use std::fmt;
use std::{fs, io};

use reattempt::{FAST_IO, NO_RETRY, Policy, Preset, Verdict, WithoutLimits};

const FREE: WithoutLimits = Policy::new().without_limits();

static PRESET: Preset = Preset::new("preset", Policy::new());

#[derive(Debug, thiserror::Error)]
#[error("own")]
struct Own;

struct NoText;

async fn get() -> io::Result<u8> {
    Ok(1)
}

async fn own() -> Result<u8, Own> {
    Err(Own)
}

async fn text() -> Result<u8, String> {
    Err("busy".to_owned())
}

async fn side() {}

mod run_blocking_awaited {
    //! expect: `Result<Vec<u8>, std::io::Error>` is not a future of a `Result`
    use super::*;

    async fn call() -> io::Result<Vec<u8>> {
        FAST_IO.run_blocking(|| fs::read("settings.toml")).await
    }
}

mod run_blocking_cancel {
    //! expect: `Result<Vec<u8>, std::io::Error>` is not a future
    use super::*;
    use std::future::pending;

    fn call() -> io::Result<Vec<u8>> {
        FAST_IO.run_blocking(|| fs::read("settings.toml")).with_cancel(pending::<()>()).call()
    }
}

mod run_blocking_closure {
    //! expect: `Result<Vec<u8>, std::io::Error>` is not a future of a `Result`
    //! errors: 2
    use super::*;

    async fn call() -> io::Result<Vec<u8>> {
        FAST_IO.run(|| fs::read("settings.toml")).await
    }
}

mod run_error_of_client {
    //! expect: `reqwest::Error` cannot say that a call was stopped by a timeout, a deadline, `with_cancel` or `until`
    use super::*;

    async fn fetch(client: reqwest::Client) -> Result<reqwest::Response, reqwest::Error> {
        FAST_IO.run(|| client.get("https://shop.example").send()).await
    }
}

mod run_no_result {
    //! expect: `{async closure body@$DIR/fail/run.rs:76:30: 76:31}` is not a future of a `Result`
    //! errors: 2
    use super::*;

    async fn call() {
        FAST_IO.run(async || 7).await;
    }
}

mod run_no_text {
    //! expect: `Failure` doesn't implement `std::fmt::Display`
    use super::*;

    struct Failure;

    async fn call() -> Result<u8, Failure> {
        NO_RETRY.without_limits().run(async || Err(Failure)).verdict(|_| reattempt::Verdict::Unknown).await
    }
}

mod run_on_anyhow {
    //! expect: `on` cannot look inside `anyhow::Error`
    use super::*;

    async fn fetch() -> anyhow::Result<u8> {
        FAST_IO.run(async || Ok(7)).on::<io::Error>().await
    }
}

mod run_on_string {
    //! expect: `on` cannot look inside `String`
    use super::*;

    async fn call() -> Result<u8, String> {
        FAST_IO.run(async || Err("busy".to_owned())).on::<io::Error>().await
    }
}

mod run_until_without_limits {
    //! expect: `until` and `with_cancel` end with a `Stopped`, but nothing stops a run of a policy `without_limits`
    use super::*;

    async fn call() -> Result<u8, String> {
        let run = Policy::new().without_limits().run(async || Ok::<u8, String>(1));
        run.verdict(|_| reattempt::Verdict::Unknown).until(|done| *done == 2).await
    }
}

mod run_when_no_verdict {
    //! expect: `String` does not say which of its errors are worth another attempt
    //! errors: 2
    use super::*;

    async fn fetch() -> Result<u8, String> {
        FAST_IO.run(async || Err("busy".to_owned())).when(|_| true).await
    }
}

mod run_without_a_rule {
    //! expect: `String` does not say which of its errors are worth another attempt
    use super::*;

    async fn call() -> Result<u8, String> {
        FAST_IO.run(async || Err("busy".to_owned())).await
    }
}

mod cancel_no_future {
    //! expect: `tokio::sync::watch::Receiver<bool>` is not a future, so it cannot cancel a call
    use super::*;
    use tokio::sync::watch;

    async fn fetch(shutdown: watch::Receiver<bool>) -> io::Result<()> {
        FAST_IO.run(async || io::Result::Ok(())).with_cancel(shutdown).await
    }
}

mod await_missing_inside {
    //! expect: `{async closure body@$DIR/fail/run.rs:154:30: 154:35}` is not a future of a `Result`
    //! errors: 2
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(async || get()).await
    }
}

mod semicolon {
    //! expect: `{async closure body@$DIR/fail/run.rs:165:27: 167:14}` is not a future of a `Result`
    //! errors: 2
    use super::*;

    async fn call() -> io::Result<()> {
        FAST_IO
            .run(async || {
                get().await;
            })
            .await
    }
}

mod semicolon_behind_future {
    //! expect: `()` is not a future of a `Result`
    //! errors: 2
    use super::*;

    async fn call() -> io::Result<()> {
        PRESET
            .run(|| {
                get();
            })
            .await
    }
}

mod option {
    //! expect: `{async closure body@$DIR/fail/run.rs:192:27: 192:34}` is not a future of a `Result`
    //! errors: 2
    use super::*;

    async fn call() {
        FREE.run(async || Some(1)).await;
    }
}

mod argument {
    //! expect: closure is expected to take 0 arguments, but it takes 1 argument
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(async |attempt: u32| get().await).await
    }
}

mod future_for_closure {
    //! expect: expected a `FnMut()` closure, found `impl Future<Output = Result<u8, std::io::Error>>`
    //! errors: 2
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get()).await
    }
}

mod await_missing {
    //! expect: mismatched types
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get)
    }
}

mod await_missing_before_question {
    //! expect: the `?` operator can only be applied to values that implement `Try`
    use super::*;

    async fn call() -> io::Result<u8> {
        Ok(FAST_IO.run(get)?)
    }
}

mod call_of_async {
    //! expect: expected `get` to return `Result<u8, Error>`, but it returns `impl Future<Output = Result<u8, Error>>`
    use super::*;

    fn call() -> io::Result<u8> {
        FAST_IO.run(get).call()
    }
}

mod blocking_of_async {
    //! expect: expected `get` to return `Result<_, _>`, but it returns `impl Future<Output = Result<u8, Error>>`
    //! errors: 2
    use super::*;

    fn call() -> io::Result<u8> {
        FAST_IO.run_blocking(get).call()
    }
}

mod blocking_unboxed {
    //! expect: `Result<Vec<u8>, std::io::Error>` is not a future of a `Result`
    //! errors: 3
    use super::*;

    async fn call() -> io::Result<Vec<u8>> {
        FAST_IO.run_blocking(|| fs::read("a")).unboxed().await
    }
}

mod error_type_unknown {
    //! expect: type annotations needed
    //! errors: 2
    use super::*;

    // Not a closure: rustc marks its type by the length of the path to this file.
    async fn seven<E>() -> Result<u8, E> {
        Ok(7)
    }

    async fn call() {
        let _ = FAST_IO.run(seven).await;
    }
}

mod no_stopped {
    //! expect: `Own` cannot say that a call was stopped by a timeout, a deadline, `with_cancel` or `until`
    use super::*;

    async fn call() -> Result<u8, Own> {
        FAST_IO.run(own).verdict(|_| reattempt::Verdict::Unknown).await
    }
}

mod no_stopped_in_preset {
    //! expect: `Own` cannot say that a call was stopped by a timeout, a deadline, `with_cancel` or `until`
    use super::*;

    async fn call() -> Result<u8, Own> {
        PRESET.run(own).verdict(|_| reattempt::Verdict::Unknown).await
    }
}

mod no_stopped_blocking {
    //! expect: `Own` cannot say that a call was stopped by a timeout, a deadline, `with_cancel` or `until`
    use super::*;

    fn call() -> Result<u8, Own> {
        FAST_IO.run_blocking(|| Err(Own)).verdict(|_| reattempt::Verdict::Unknown).call()
    }
}

mod no_stopped_generic {
    //! expect: `E` cannot say that a call was stopped by a timeout, a deadline, `with_cancel` or `until`
    use super::*;

    async fn call<E: fmt::Display + Send, F: Future<Output = Result<u8, E>> + Send>(
        run: impl Fn() -> F + Send,
    ) -> Result<u8, E> {
        FAST_IO.run(run).verdict(|_| reattempt::Verdict::Unknown).await
    }
}

mod no_verdict_no_stopped {
    //! expect: `Own` cannot say that a call was stopped by a timeout, a deadline, `with_cancel` or `until`
    //! expect: `Own` does not say which of its errors are worth another attempt
    use super::*;

    async fn call() -> Result<u8, Own> {
        FAST_IO.run(own).await
    }
}

mod no_verdict_without_limits {
    //! expect: `Own` does not say which of its errors are worth another attempt
    use super::*;

    async fn call() -> Result<u8, Own> {
        FREE.run(own).await
    }
}

mod no_verdict_anyhow {
    //! expect: `anyhow::Error` does not say which of its errors are worth another attempt
    use super::*;

    async fn call() -> anyhow::Result<u8> {
        FAST_IO.run(async || Ok(7)).await
    }
}

mod no_verdict_unboxed {
    //! expect: `Own` does not say which of its errors are worth another attempt
    //! errors: 3
    use super::*;

    async fn call() -> Result<u8, Own> {
        FREE.run(own).unboxed().await
    }
}

mod no_verdict_blocking {
    //! expect: `Own` does not say which of its errors are worth another attempt
    use super::*;

    fn call() -> Result<u8, Own> {
        FREE.run_blocking(|| Err(Own)).call()
    }
}

mod no_verdict_generic {
    //! expect: `E` does not say which of its errors are worth another attempt
    use super::*;

    async fn call<E: fmt::Display + Send, F: Future<Output = Result<u8, E>> + Send>(
        run: impl Fn() -> F + Send,
    ) -> Result<u8, E> {
        FREE.run(run).await
    }
}

mod no_text_blocking {
    //! expect: `NoText` doesn't implement `std::fmt::Display`
    use super::*;

    fn call() -> Result<u8, NoText> {
        FREE.run_blocking(|| Err(NoText)).verdict(|_| reattempt::Verdict::Unknown).call()
    }
}

mod when_of_value {
    //! expect: type mismatch in closure arguments
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).when(|error: io::Error| true).await
    }
}

mod when_of_other_type {
    //! expect: type mismatch in closure arguments
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).when(|error: &String| true).await
    }
}

mod when_gives_kind {
    //! expect: `for<'a> fn(&'a std::io::Error) -> ErrorKind {std::io::Error::kind}` is not a function that returns `bool`
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).when(io::Error::kind).await
    }
}

mod when_async {
    //! expect: `{async closure@$DIR/fail/run.rs:414:31: 414:40}` is not a function that returns `bool`
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).when(async |_| true).await
    }
}

mod when_a_value {
    //! expect: `bool` is not a function that returns `bool`
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).when(true).await
    }
}

mod when_not_send {
    //! expect: `Rc<str>` cannot be sent between threads safely
    use super::*;

    async fn call(name: std::rc::Rc<str>) -> io::Result<u8> {
        FAST_IO.run(get).when(move |_| name.is_empty()).await
    }
}

mod when_ok_of_error {
    //! expect: type mismatch in closure arguments
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).when_ok(|_: &io::Error| true).await
    }
}

mod when_ok_gives_nothing {
    //! expect: `()` is no answer about an `Ok`, expected a `bool`
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).when_ok(|_| {}).await
    }
}

mod when_ok_gives_duration {
    //! expect: `(bool, Duration)` is no answer about an `Ok`, expected a `bool`
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).when_ok(|_| (true, std::time::Duration::ZERO)).await
    }
}

mod until_gives_option {
    //! expect: `Option<u8>` is no answer about an `Ok`, expected a `bool`
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).until(|done| Some(*done)).await
    }
}

mod cancel_without_limits {
    //! expect: `until` and `with_cancel` end with a `Stopped`, but nothing stops a run of a policy `without_limits`
    use super::*;

    async fn call() -> io::Result<u8> {
        FREE.run(get).with_cancel(side()).await
    }
}

mod cancel_closure {
    //! expect: `{closure@$DIR/fail/run.rs:486:38: 486:40}` is not a future, so it cannot cancel a call
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).with_cancel(|| side()).await
    }
}

mod cancel_flag {
    //! expect: `bool` is not a future, so it cannot cancel a call
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).with_cancel(true).await
    }
}

mod verdict_gives_bool {
    //! expect: `bool` is no answer about an error, expected a `Verdict`
    use super::*;

    async fn call() -> Result<u8, Own> {
        FREE.run(own).verdict(|_| true).await
    }
}

mod verdict_gives_option {
    //! expect: `Option<reattempt::Verdict>` is no answer about an error, expected a `Verdict`
    use super::*;

    async fn call() -> Result<u8, Own> {
        FREE.run(own).verdict(|_| Some(Verdict::Transient)).await
    }
}

mod verdict_of_other_type {
    //! expect: type mismatch in closure arguments
    use super::*;

    async fn call() -> Result<u8, Own> {
        FREE.run(own)
            .verdict(|_: &io::Error| Verdict::Transient)
            .await
    }
}

mod verdict_a_value {
    //! expect: expected a `FnMut(&Own)` closure, found `reattempt::Verdict`
    use super::*;

    async fn call() -> Result<u8, Own> {
        FREE.run(own).verdict(Verdict::Transient).await
    }
}

mod on_without_verdict {
    //! expect: `Own` does not say which of its errors are worth another attempt
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).on::<Own>().await
    }
}

mod on_retry_of_error {
    //! expect: type mismatch in closure arguments
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).on_retry(|_: &io::Error| ()).await
    }
}

mod before_retry_is_a_key_of_the_attribute {
    //! expect: no method named `before_retry` found for struct `Run<'p, O, T, E, S>` in the current scope
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).before_retry(|_| side()).await
    }
}

mod budget_a_number {
    //! expect: `budget` is a `{integer}`, expected a `reattempt::Budget`
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).with_budget(&5).await
    }
}

mod retry_after_always {
    //! expect: mismatched types
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).retry_after(|_| std::time::Duration::ZERO).await
    }
}

mod on_retry_async {
    //! expect: `for<'a, 'b> fn(&'a RetryEvent<'b, std::io::Error>) -> impl Future<Output = ()> {note}` is not a function that returns `()`
    use super::*;

    async fn note(_: &reattempt::RetryEvent<'_, io::Error>) {}

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).on_retry(note).await
    }
}

mod on_retry_async_closure {
    //! expect: `{async closure@$DIR/fail/run.rs:598:35: 598:44}` is not a function that returns `()`
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).on_retry(async |_| side().await).await
    }
}

mod retry_after_async {
    //! expect: `for<'a> fn(&'a std::io::Error) -> impl Future<Output = Option<Duration>> {wait}` is not a function that returns `Option<Duration>`
    use super::*;

    async fn wait(_: &io::Error) -> Option<std::time::Duration> {
        None
    }

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).retry_after(wait).await
    }
}

mod verdict_beside_on {
    //! expect: `verdict` has no effect with `on`: each error that `on` names has its own verdict
    use super::*;

    async fn call() -> io::Result<u8> {
        FAST_IO.run(get).on::<io::Error>().verdict(|_| Verdict::Transient).await
    }
}

mod on_beside_verdict {
    //! expect: `verdict` has no effect with `on`: each error that `on` names has its own verdict
    use super::*;

    async fn call() -> io::Result<u8> {
        let run = FAST_IO.run(get).verdict(|_| Verdict::Transient).when(|_| true);
        run.on::<io::Error>().await
    }
}

mod shared_by_rc {
    //! expect: `Rc<str>` cannot be shared between threads safely
    //! errors: 2
    use super::*;

    async fn call(name: std::rc::Rc<str>) -> io::Result<usize> {
        FAST_IO.run(async || io::Result::Ok(name.len())).await
    }
}

mod generic_not_send {
    //! expect: `F` cannot be sent between threads safely
    //! errors: 2
    use super::*;
    use reattempt::{Retryable, Stopped};

    async fn with_retry<E, F, A>(operation: F) -> Result<u8, E>
    where
        E: Retryable + From<Stopped> + fmt::Display + Send,
        F: FnMut() -> A,
        A: Future<Output = Result<u8, E>>,
    {
        FAST_IO.run(operation).await
    }
}

fn main() {}
