//! expect: `attempts` is 0, expected at least 1, as the first call counts
//! errors: 6

use std::io;

use reattempt::retry;

#[retry(
    attempts = 0,
    deadline = "1s",
    timeout = "30",
    backoff = "quadratic",
    on(io::Error, bool),
    deadline = "2s",
    retries = 3
)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
