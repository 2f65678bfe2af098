//! expect: mismatched types

use std::io;

use reattempt::retry;

const ATTEMPTS: usize = 4;

#[retry(attempts = ATTEMPTS)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
