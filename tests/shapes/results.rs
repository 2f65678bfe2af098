//! Results: aliases, coercions, elided lifetimes, error types.

use std::error::Error;
use std::fmt::Display;
use std::io;
use std::rc::Rc;

use reattempt::{retry, Retryable, Stopped, Verdict};

use crate::{cases, Calls};

type Reply<T, E = io::Error> = Result<T, E>;
type Unit = Result<(), io::Error>;

#[retry]
async fn alias(calls: &Calls) -> Reply<u8> {
    calls.fail()
}

#[retry(timeout = "1s")]
async fn alias_without_arguments(calls: &Calls) -> Unit {
    calls.fail()
}

#[retry]
#[expect(unused_qualifications, reason = "the point of the case")]
async fn full_path(calls: &Calls) -> std::result::Result<u8, std::io::Error> {
    calls.fail()
}

#[retry]
async fn coerces_a_box(calls: &Calls) -> io::Result<Box<dyn Display + Send>> {
    if calls.count() > 100 {
        return Ok(Box::new("text"));
    }
    calls.fail::<()>()?;
    Ok(Box::new(1))
}

#[retry]
#[expect(
    clippy::ptr_arg,
    reason = "a coercion in the result is the point of the case"
)]
async fn coerces_a_reference<'a>(calls: &Calls, text: &'a String) -> io::Result<&'a str> {
    calls.fail::<()>()?;
    Ok(text)
}

#[retry]
async fn coerces_a_function(calls: &Calls) -> io::Result<fn(u8) -> u8> {
    calls.fail::<()>()?;
    Ok(|byte| byte)
}

#[retry]
async fn elided(calls: &Calls) -> io::Result<&'_ Calls> {
    calls.fail()
}

#[retry]
async fn impl_trait_out(calls: &Calls) -> io::Result<impl Iterator<Item = u8> + use<>> {
    calls.fail::<()>()?;
    Ok(vec![1_u8, 2].into_iter())
}

#[retry(on = "io::Error", timeout = "1s")]
async fn boxed_error(calls: &Calls) -> Result<u8, Box<dyn Error + Send + Sync>> {
    Ok(calls.fail()?)
}

#[retry(on = "io::Error", timeout = "1s")]
async fn anyhow_error(calls: &Calls) -> anyhow::Result<u8> {
    Ok(calls.fail()?)
}

/// The text becomes the error, so each attempt needs its own.
#[retry(when = |_| true)]
async fn anyhow_of_an_argument(calls: &Calls, text: String) -> anyhow::Result<u8> {
    calls.up();
    anyhow::ensure!(calls.count() > 0, text);
    anyhow::bail!(text);
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("input or output")]
    Io(#[from] io::Error),
    #[error("stopped")]
    Stopped(#[from] Stopped),
    #[error("closed with {0}")]
    Closed(u16),
}

impl Retryable for Failure {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Io(error) => error.verdict(),
            Self::Stopped(_) => Verdict::Permanent,
            Self::Closed(_) => Verdict::Transient,
        }
    }
}

#[retry(timeout = "1s")]
async fn own_error(calls: &Calls) -> Result<u8, Failure> {
    Ok(calls.fail()?)
}

#[retry(when = |error| matches!(error, Failure::Closed(500..=599) | Failure::Io(_)), deadline = "10s")]
async fn matched(calls: &Calls) -> Result<u8, Failure> {
    calls.up();
    Err(Failure::Closed(503))
}

#[retry(when = "Failure::is_closed")]
async fn asked_by_path(calls: &Calls) -> Result<u8, Failure> {
    calls.up();
    Err(Failure::Closed(1))
}

impl Failure {
    fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }
}

#[retry(when = |error| error.starts_with("busy"), timeout = "1s")]
async fn text_error(calls: &Calls) -> Result<u8, String> {
    calls.up();
    Err("busy".to_owned())
}

/// A result that is neither `Send` nor an error. The future must still be `Send`.
struct Local(#[allow(dead_code, reason = "keeps it from being `Send`")] Rc<u8>);

impl From<Stopped> for Local {
    fn from(_: Stopped) -> Self {
        Self(Rc::new(0))
    }
}

#[retry(when = |_| true, timeout = "1s")]
async fn error_not_send(calls: &Calls) -> Result<u8, Local> {
    tokio::task::yield_now().await;
    calls.up();
    Err(Local(Rc::new(1)))
}

/// An error that borrows.
#[derive(Debug)]
struct Borrowed<'a>(#[allow(dead_code, reason = "borrows")] &'a str);

impl From<Stopped> for Borrowed<'_> {
    fn from(_: Stopped) -> Self {
        Self("")
    }
}

#[retry(when = |_| true, timeout = "1s")]
async fn error_borrows<'a>(calls: &Calls, text: &'a str) -> Result<u8, Borrowed<'a>> {
    calls.up();
    Err(Borrowed(text))
}

#[retry(timeout = "1s", when = |_| true)]
async fn foreign_error(calls: &Calls) -> Result<u8, reattempt::Error<std::num::ParseIntError>> {
    calls.up();
    Ok("x".parse::<u8>()?)
}

/// An error of another crate, without a verdict.
#[derive(Debug, thiserror::Error)]
#[error("foreign")]
struct Foreign;

#[retry(on = "Foreign", timeout = "1s")]
async fn foreign_error_by_type(calls: &Calls) -> Result<u8, reattempt::Error<Foreign>> {
    calls.up();
    Err(Foreign)?
}

#[derive(Debug, reattempt::Retryable)]
#[retryable(transient)]
struct Refused;

/// `impl Trait` beside an error with a written type.
#[retry]
async fn opaque_and_error_of_ones_own(
    calls: &Calls,
) -> Result<impl Iterator<Item = u8> + use<>, Refused> {
    if calls.up() < 10 {
        return Err(Refused);
    }
    Ok(vec![1].into_iter())
}

cases! {
    opaque_and_error_of_ones_own: |calls| opaque_and_error_of_ones_own(calls);
    alias: |calls| alias(calls);
    alias_without_arguments: |calls| alias_without_arguments(calls);
    full_path: |calls| full_path(calls);
    coerces_a_box: |calls| coerces_a_box(calls);
    coerces_a_reference: |calls| coerces_a_reference(calls, &String::new());
    coerces_a_function: |calls| coerces_a_function(calls);
    elided: |calls| elided(calls);
    impl_trait_out: |calls| impl_trait_out(calls);
    boxed_error: |calls| boxed_error(calls);
    anyhow_error: |calls| anyhow_error(calls);
    anyhow_of_an_argument: |calls| anyhow_of_an_argument(calls, "busy".to_owned());
    own_error: |calls| own_error(calls);
    matched: |calls| matched(calls);
    asked_by_path: |calls| asked_by_path(calls);
    text_error: |calls| text_error(calls);
    error_not_send: |calls| error_not_send(calls);
    error_borrows: |calls| error_borrows(calls, "text");
    foreign_error: |calls| foreign_error(calls);
    foreign_error_by_type: |calls| foreign_error_by_type(calls);
}
