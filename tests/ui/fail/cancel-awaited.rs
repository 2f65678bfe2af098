//! expect: found `token.cancelled().await`, expected the future itself

use std::io;

use reattempt::retry;

#[retry(cancel = token.cancelled().await)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
