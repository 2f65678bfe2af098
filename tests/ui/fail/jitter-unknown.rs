//! expect: unknown jitter `"ful"`

use std::io;

use reattempt::retry;

#[retry(jitter = "ful")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
