//! expect: unknown key `multiplier`, called `factor` here

use std::io;

use reattempt::retry;

#[retry(multiplier = 1.5)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
