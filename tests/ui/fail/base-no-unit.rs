//! expect: duration `100` has no unit

use std::io;

use reattempt::retry;

#[retry(base = 100)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
