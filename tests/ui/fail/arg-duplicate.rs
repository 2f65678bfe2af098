//! expect: `attempts` is given twice

use std::io;

use reattempt::retry;

#[retry(attempts = 4, timeout = "1s", attempts = 5)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
