//! expect: found `5`, expected an error type

use std::io;

use reattempt::retry;

#[retry(on = 5)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
