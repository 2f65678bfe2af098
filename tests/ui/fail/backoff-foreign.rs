//! expect: unknown backoff `"exp"`

use std::io;

use reattempt::retry;

#[retry(backoff = "exp")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
