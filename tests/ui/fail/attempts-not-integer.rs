//! expect: found `2.5`, expected a whole number from 1, or `"unlimited"`

use std::io;

use reattempt::retry;

#[retry(attempts = 2.5)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
