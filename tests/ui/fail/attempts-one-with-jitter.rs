//! expect: `attempts = 1` never retries, so `jitter` has no effect

use std::io;

use reattempt::retry;

#[retry(attempts = 1, jitter = "full")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
