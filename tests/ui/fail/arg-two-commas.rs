//! expect: found `,`, expected a key

use std::io;

use reattempt::retry;

#[retry(attempts = 4,, timeout = "1s")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
