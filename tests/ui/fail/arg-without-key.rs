//! expect: found `"5s"`, expected a key

use std::io;

use reattempt::retry;

#[retry("5s")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
