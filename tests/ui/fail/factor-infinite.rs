//! expect: factor `"inf"` is not finite, expected 1 to 1000

use std::io;

use reattempt::retry;

#[retry(factor = "inf")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
