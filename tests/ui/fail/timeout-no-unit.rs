//! expect: duration `"1.5"` has no unit

use std::io;

use reattempt::retry;

#[retry(timeout = "1.5")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
