//! expect: found `"none"`, expected a duration

use std::io;

use reattempt::retry;

#[retry(timeout = "none")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
