//! expect: `timeout` has no value, expected a duration

use std::io;

use reattempt::retry;

#[retry(timeout = jitter = "full")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
