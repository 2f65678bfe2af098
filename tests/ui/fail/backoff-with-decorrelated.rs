//! expect: `backoff` has no effect with `jitter = "decorrelated"`

use std::io;

use reattempt::retry;

#[retry(jitter = "decorrelated", backoff = "linear")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
