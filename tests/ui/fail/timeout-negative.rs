//! expect: duration `"-1s"` is negative

use std::io;

use reattempt::retry;

#[retry(timeout = "-1s")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
