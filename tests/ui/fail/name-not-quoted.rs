//! expect: found `payments`, expected a string

use std::io;

use reattempt::retry;

#[retry(name = payments)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
