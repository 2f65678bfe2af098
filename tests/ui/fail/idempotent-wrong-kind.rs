//! expect: found `"no"`, expected `true` or `false`

use std::io;

use reattempt::retry;

#[retry(idempotent = "no")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
