//! expect: mismatched types

use std::io;

use reattempt::retry;

#[retry(when = |error| error.kind())]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
