//! Unusual forms that are right.

#![deny(warnings)]

use std::io;
use std::time::Duration;

use reattempt::{Jitter, Policy, retry};

const ATTEMPTS: u32 = 4;
const MY_POLICY: Policy = Policy::new().with_attempts(2);

#[retry]
async fn bare() -> io::Result<u8> {
    Ok(0)
}

#[retry()]
async fn empty() -> io::Result<u8> {
    Ok(0)
}

#[retry(attempts = 4,)]
async fn trailing_comma() -> io::Result<u8> {
    Ok(0)
}

#[retry(r#attempts = "4", timeout = r"1m 30s", factor = "2", deadline = "  2 m  ")]
async fn quoted() -> io::Result<u8> {
    Ok(0)
}

#[retry(
    attempts = ATTEMPTS,
    timeout = Duration::from_millis(1500),
    jitter = Jitter::Equal,
    base = limit / 2,
    on(io::Error, std::fmt::Error,)
)]
async fn plain(limit: Duration) -> io::Result<u32> {
    Ok(limit.subsec_nanos())
}

#[retry(attempts = "ATTEMPTS", timeout = "2 * limit", jitter = "Jitter::None", policy = "crate::MY_POLICY")]
async fn rust_in_quotes(limit: Duration) -> io::Result<u32> {
    Ok(limit.subsec_nanos())
}

#[retry(on = std::io::Error | std::fmt::Error, unless = |error: &io::Error| error.kind() == io::ErrorKind::NotFound)]
async fn alternatives() -> io::Result<u8> {
    Ok(0)
}

#[retry(attempts = "unlimited", deadline = "1s")]
async fn unlimited() -> io::Result<u8> {
    Ok(0)
}

macro_rules! with {
    ($attempts:literal, $timeout:expr, $jitter:ident, $error:ty, $when:path, $base:literal) => {
        #[retry(attempts = $attempts, timeout = $timeout, jitter = $jitter, on = $error, when = $when, base = $base)]
        async fn through_a_macro() -> io::Result<u8> {
            Ok(0)
        }
    };
}

fn any(_: &io::Error) -> bool {
    true
}

with!(4, "1s", full, io::Error, any, "10ms");

macro_rules! whole {
    ($setting:meta) => {
        #[$setting]
        async fn whole_attribute() -> io::Result<u8> {
            Ok(0)
        }
    };
}

whole!(retry(attempts = 4));

fn main() {
    drop((bare(), empty(), trailing_comma(), quoted(), plain(Duration::MAX)));
    drop((rust_in_quotes(Duration::ZERO), alternatives(), unlimited()));
    drop((through_a_macro(), whole_attribute()));
}
