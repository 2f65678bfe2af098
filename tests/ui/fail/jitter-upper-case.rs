//! expect: unknown jitter `"Full"`

use std::io;

use reattempt::retry;

#[retry(jitter = "Full")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
