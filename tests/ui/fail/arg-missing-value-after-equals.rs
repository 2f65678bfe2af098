//! expect: `timeout` has no value, expected a duration

use std::io;

use reattempt::retry;

#[retry(timeout = , attempts = 4)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
