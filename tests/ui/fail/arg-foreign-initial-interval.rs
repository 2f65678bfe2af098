//! expect: unknown key `initial_interval`, called `base` here

use std::io;

use reattempt::retry;

#[retry(initial_interval = "100ms")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
