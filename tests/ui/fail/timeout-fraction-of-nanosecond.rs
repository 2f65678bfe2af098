//! expect: duration `"0.5ns"` has a fraction of a nanosecond

use std::io;

use reattempt::retry;

#[retry(timeout = "0.5ns")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
