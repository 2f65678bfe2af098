//! expect: `attempts` is 0, expected at least 1, as the first call counts

use std::io;

use reattempt::retry;

#[retry(attempts = 0)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
