//! Bodies on one line, and expected lints. No warning comes from generated code.

#![deny(warnings)]
#![warn(clippy::pedantic)]

use std::io;

use reattempt::retry;

#[rustfmt::skip]
#[retry]
async fn call() -> io::Result<u8> { fail().await }

#[rustfmt::skip]
#[retry(timeout = "1s")]
async fn looped() -> io::Result<u8> { loop { fail().await?; } }

#[rustfmt::skip]
#[retry]
async fn expected(#[expect(unused_mut)] mut text: String, #[expect(unused_variables)] other: u8) -> io::Result<String> { Ok(text) }

#[rustfmt::skip]
#[retry]
async fn allowed(#[allow(unused_mut)] mut text: String) -> io::Result<String> { Ok(text) }

#[rustfmt::skip]
#[retry]
fn by_hand() -> impl Future<Output = io::Result<u8>> + Send { fail() }

async fn fail() -> io::Result<u8> {
    Err(io::ErrorKind::TimedOut.into())
}

fn main() {
    drop((call(), looped(), expected(String::new(), 1), allowed(String::new()), by_hand()));
}
