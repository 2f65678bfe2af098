//! expect: found `true`, expected a duration

use std::io;

use reattempt::retry;

#[retry(timeout = true)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
