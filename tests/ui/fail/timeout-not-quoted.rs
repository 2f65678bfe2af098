//! expect: duration `5s` is not in quotes

use std::io;

use reattempt::retry;

#[retry(timeout = 5s)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
