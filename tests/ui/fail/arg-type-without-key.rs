//! expect: found `io::Error`, expected a key

use std::io;

use reattempt::retry;

#[retry(io::Error)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
