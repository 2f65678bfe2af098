//! expect: `u8` is no answer about an `Ok`, expected a `bool`

use std::io;

use reattempt::retry;

#[retry(when_ok = |value| *value)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
