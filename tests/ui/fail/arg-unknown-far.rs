//! expect: unknown key `speed`

use std::io;

use reattempt::retry;

#[retry(speed = 4)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
