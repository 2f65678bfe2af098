//! expect: `factor` has no effect with `backoff = "constant"`

use std::io;

use reattempt::retry;

#[retry(backoff = "constant", factor = 3)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
