//! expect: unknown key `delay_ms`, called `base` here

use std::io;

use reattempt::retry;

#[retry(delay_ms = 250)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
