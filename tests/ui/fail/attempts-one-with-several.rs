//! expect: `attempts = 1` never retries, so `base` and `factor` have no effect

use std::io;

use reattempt::retry;

#[retry(base = "50ms", factor = 3, attempts = 1)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
