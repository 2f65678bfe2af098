//! expect: found `"forever"`, expected a whole number or `"unlimited"`

use std::io;

use reattempt::retry;

#[retry(attempts = "forever")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
