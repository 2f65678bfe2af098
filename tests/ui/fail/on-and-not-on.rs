//! expect: `io::Error` is in `on` and in `not_on`, which wins

use std::io;

use reattempt::retry;

#[retry(on = io::Error, not_on = io::Error)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
