//! expect: `deadline` (100ms) leaves no room for a second attempt

use std::io;

use reattempt::retry;

#[retry(deadline = "100ms", base = "250ms", jitter = "none")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
