//! expect: unknown key `max_attempts`, called `attempts` here

use std::io;

use reattempt::retry;

#[retry(max_attempts = 4)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
