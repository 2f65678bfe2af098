//! expect: unknown backoff `"quadratic"`

use std::io;

use reattempt::retry;

#[retry(backoff = "quadratic")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
