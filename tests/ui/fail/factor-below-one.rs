//! expect: factor `0.5` is below 1, so delays would shrink

use std::io;

use reattempt::retry;

#[retry(factor = 0.5)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
