//! Functions that are not async. No warning comes from generated code.

#![deny(warnings)]
#![warn(clippy::pedantic)]

use std::io;

use reattempt::retry;

#[rustfmt::skip]
#[retry(blocking)]
fn call() -> io::Result<u8> { fail() }

#[rustfmt::skip]
#[retry(blocking, deadline = "1s")]
fn looped() -> io::Result<u8> { loop { fail()?; } }

#[rustfmt::skip]
#[retry(blocking)]
fn expected(#[expect(unused_mut)] mut text: String, #[expect(unused_variables)] other: u8) -> io::Result<String> { Ok(text) }

#[rustfmt::skip]
#[retry(blocking)]
unsafe fn not_safe(text: &[u8]) -> io::Result<&str> { Ok(unsafe { std::str::from_utf8_unchecked(text) }) }

#[rustfmt::skip]
#[retry(blocking, before_retry = || ready())]
fn made_ready() -> io::Result<u8> { fail() }

fn ready() {}

fn fail() -> io::Result<u8> {
    Err(io::ErrorKind::NotFound.into())
}

fn main() {
    let _ = (call(), looped(), made_ready(), expected(String::new(), 1));
    let _ = unsafe { not_safe(b"text") };
}
