//! expect: `attempts` is out of range (`5_000_000_000`), expected at most 4294967294

use std::io;

use reattempt::retry;

#[retry(attempts = 5_000_000_000)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
