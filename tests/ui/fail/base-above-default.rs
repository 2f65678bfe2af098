//! expect: `base` (1m) is above `max_delay`, 20s by default

use std::io;

use reattempt::retry;

#[retry(base = "1m")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
