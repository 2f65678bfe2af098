//! expect: `io::Error` is in `on` and in `not_on`, so it is never retried

use std::io;

use reattempt::retry;

#[retry(on = io::Error, not_on = io::Error)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
