//! expect: unknown jitter `true`

use std::io;

use reattempt::retry;

#[retry(jitter = true)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
