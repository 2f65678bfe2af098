//! expect: `attempts` is negative (`-1`), expected at least 1

use std::io;

use reattempt::retry;

#[retry(attempts = -1)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
