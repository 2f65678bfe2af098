//! expect: `base` (5s) is above `max_delay` (1s)

use std::io;

use reattempt::retry;

#[retry(base = "5s", max_delay = "1s")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
