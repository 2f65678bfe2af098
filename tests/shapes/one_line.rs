//! Bodies on one line, and expected lints. No warning comes from generated code.

#![deny(warnings, clippy::pedantic)]

use std::io;

use reattempt::retry;

#[rustfmt::skip]
#[retry]
async fn call() -> io::Result<u8> { fail() }

#[rustfmt::skip]
#[retry(timeout = "1s")]
async fn looped() -> io::Result<u8> { loop { let _ = call().await?; } }

#[rustfmt::skip]
#[retry]
async fn expected(#[expect(unused_mut, reason = "the lint is heard")] mut text: String, #[expect(unused_variables, reason = "the lint is heard")] other: u8) -> io::Result<String> { Ok(text) }

#[rustfmt::skip]
#[retry]
async fn allowed(#[allow(unused_mut, reason = "the lint is heard")] mut text: String) -> io::Result<String> { Ok(text) }

#[rustfmt::skip]
#[retry]
fn by_hand() -> impl Future<Output = io::Result<u8>> + Send { call() }

#[rustfmt::skip]
#[retry(blocking)]
fn blocks() -> io::Result<u8> { fail() }

#[rustfmt::skip]
#[retry(blocking, deadline = "1s")]
fn blocks_in_a_loop() -> io::Result<u8> { loop { let _ = fail()?; } }

#[rustfmt::skip]
#[retry(blocking)]
fn blocks_as_expected(#[expect(unused_mut, reason = "the lint is heard")] mut text: String, #[expect(unused_variables, reason = "the lint is heard")] other: u8) -> io::Result<String> { Ok(text) }

#[rustfmt::skip]
#[retry(blocking, before_retry = || { ready(); })]
fn made_ready() -> io::Result<u8> { fail() }

fn ready() {}

fn fail() -> io::Result<u8> {
    Err(io::ErrorKind::NotFound.into())
}

#[tokio::test]
async fn a_body_on_one_line_gives_what_it_would_without_the_attribute() {
    call().await.unwrap_err();
    looped().await.unwrap_err();
    by_hand().await.unwrap_err();
    assert_eq!(expected("text".into(), 1).await.unwrap(), "text");
    assert_eq!(allowed("text".into()).await.unwrap(), "text");
    blocks().unwrap_err();
    blocks_in_a_loop().unwrap_err();
    assert_eq!(blocks_as_expected("text".into(), 1).unwrap(), "text");
    made_ready().unwrap_err();
}
