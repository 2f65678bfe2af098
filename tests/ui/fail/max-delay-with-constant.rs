//! expect: `max_delay` has no effect with `backoff = "constant"`

use std::io;

use reattempt::retry;

#[retry(backoff = "constant", max_delay = "1s")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
