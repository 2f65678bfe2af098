//! Programs with many functions of one side, as a user would write them.

use std::fmt::Write as _;

use crate::Side;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) side: Side,
    pub(crate) functions: usize,
}

/// A body that is as small as possible, so that the measurement is about the retries.
const BODY: &str = "work(addr, text).await";

/// The beginning of every program.
const HEAD: &str = "\
#![allow(dead_code, unused_imports)]
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout, timeout_at};

async fn work(addr: SocketAddr, text: &str) -> io::Result<String> {
    tokio::task::yield_now().await;
    std::hint::black_box(addr);
    Ok(text.to_owned())
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused)
}

fn delay(attempt: u32) -> Duration {
    let ceiling = Duration::from_millis(100).saturating_mul(1 << (attempt - 1).min(20));
    let nanos = ceiling.min(Duration::from_secs(20)).as_nanos();
    Duration::from_nanos(fastrand::u64(0..=u64::try_from(nanos).unwrap_or(u64::MAX)))
}
";

const POLICY: &str = "
use backon::Retryable as _;

fn policy() -> backon::ExponentialBuilder {
    backon::ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(100))
        .with_max_delay(Duration::from_secs(20))
        .with_max_times(3)
        .with_total_delay(Some(Duration::from_secs(5)))
        .with_jitter()
}
";

const LOOP: &str = "\
    let deadline = Instant::now() + Duration::from_secs(5);
    let mut attempt = 0;
    loop {
        attempt += 1;
        let limit = (Instant::now() + Duration::from_millis(1500)).min(deadline);
        let work = async {
            BODY
        };
        let error = match timeout_at(limit, work).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
        let until = Instant::now() + delay(attempt);
        if attempt == 4 || !is_temporary(&error) || until >= deadline {
            return Err(error);
        }
        sleep_until(until).await;
    }";

const TIMEOUT: &str = "\
    let work = async {
        BODY
    };
    match timeout(Duration::from_millis(1500), work).await {
        Ok(result) => result,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }";

const BACKON: &str = "\
    let limited = || async {
    TIMEOUT
    };
    limited.retry(policy()).when(is_temporary).await";

/// The keys of the attribute.
macro_rules! keys {
    () => {
        r#"attempts = 4, timeout = "1.5s", jitter = "full", on = "io::Error", deadline = "5s""#
    };
}

impl Program {
    /// The text of the program. All of its functions are compiled to machine code.
    pub(crate) fn text(self) -> String {
        let mut text = HEAD.to_owned();
        if matches!(self.side, Side::Backon | Side::BackonMacros) {
            text.push_str(POLICY);
        }
        let mut calls = String::new();
        for number in 0..self.functions {
            let (attribute, body) = self.function();
            let _ = write!(
                text,
                "\n{attribute}async fn fetch_{number}(addr: SocketAddr, text: &str) -> io::Result<String> {{\n{body}\n}}\n"
            );
            let _ = writeln!(calls, "        Box::pin(fetch_{number}(addr, text)),");
        }
        let _ = write!(
            text,
            "\nfn all(addr: SocketAddr, text: &str) -> Vec<Pin<Box<dyn Future<Output = io::Result<String>> + '_>>> {{\n    vec![\n{calls}    ]\n}}\n\nfn main() {{\n    drop(std::hint::black_box(all(([127, 0, 0, 1], 80).into(), \"text\")));\n}}\n"
        );
        text
    }

    /// The attribute and the body of a function.
    fn function(self) -> (&'static str, String) {
        let (attribute, around) = match self.side {
            Side::Hand => ("", LOOP),
            Side::Ours => (concat!("#[reattempt::retry(", keys!(), ")]\n"), "    BODY"),
            Side::Run => (
                "",
                concat!("    reattempt::run!(", keys!(), ", async || BODY).await"),
            ),
            Side::Backon => ("", BACKON),
            Side::BackonMacros => (
                "#[backon_macros::backon(backoff = policy, when = is_temporary)]\n",
                TIMEOUT,
            ),
            _ => ("", "    BODY"),
        };
        let body = around.replace("TIMEOUT", TIMEOUT).replace("BODY", BODY);
        (attribute, body)
    }
}
