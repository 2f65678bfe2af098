//! expect: `u32` is not an error type, and is never inside of one

use std::io;

use reattempt::retry;

#[retry(on(io::Error, u32))]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
