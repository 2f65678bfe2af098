//! expect: unknown key `retries`, called `attempts` here
//! errors: 2

use std::io;

use reattempt::retry;

#[retry(retries = 3)]
fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
