//! expect: unknown key `retries`, called `attempts` here

use std::io;

use reattempt::retry;

#[retry(retries = 3)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
