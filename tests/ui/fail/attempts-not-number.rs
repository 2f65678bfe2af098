//! expect: found `"many"`, expected a whole number from 1, or `"unlimited"`

use std::io;

use reattempt::retry;

#[retry(attempts = "many")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
