//! expect: factor `2000` is above 1000, expected 1 to 1000

use std::io;

use reattempt::retry;

#[retry(factor = 2000)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
