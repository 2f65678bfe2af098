//! expect: this function is not async, expected `async fn`, or `blocking` in the attribute

use std::io;

use reattempt::retry;

#[retry(attempts = 4)]
fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {
    drop(fetch());
}
