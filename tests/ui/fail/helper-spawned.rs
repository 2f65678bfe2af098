//! expect: implementation of `Send` is not general enough
use std::io;

use reattempt::retry;

#[retry(attempts = 4)]
async fn with_retry<F: AsyncFnMut() -> io::Result<u8>>(mut operation: F) -> io::Result<u8> {
    operation().await
}

fn spawn(_: impl Future + Send + 'static) {}

fn main() {
    spawn(async {
        let mut calls = 0;
        let operation = async || {
            calls += 1;
            Ok(calls)
        };
        with_retry(operation).await
    });
}
