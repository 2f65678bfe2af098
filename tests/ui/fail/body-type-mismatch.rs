//! expect: mismatched types

use std::io;

use reattempt::retry;

#[retry(attempts = 4)]
async fn fetch() -> io::Result<u32> {
    let zero: u32 = "zero";
    Ok(zero)
}

fn main() {}
