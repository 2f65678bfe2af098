//! expect: unknown key `strategy`, called `backoff` here

use std::io;

use reattempt::retry;

#[retry(strategy = "exponential")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
