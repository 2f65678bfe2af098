//! expect: unknown policy `"fast_io"`

use std::io;

use reattempt::retry;

#[retry(policy = "fast_io")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
