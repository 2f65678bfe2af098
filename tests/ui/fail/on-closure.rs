//! expect: found a closure, expected an error type

use std::io;

use reattempt::retry;

#[retry(on = |error| error.is_timeout())]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
