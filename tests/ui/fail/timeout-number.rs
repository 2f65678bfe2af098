//! expect: duration `1500` has no unit

use std::io;

use reattempt::retry;

#[retry(timeout = 1500)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
