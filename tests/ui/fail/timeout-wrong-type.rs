//! expect: mismatched types

use std::io;

use reattempt::retry;

#[retry(timeout = limit)]
async fn fetch(limit: u64) -> io::Result<u8> {
    Ok(0)
}

fn main() {}
