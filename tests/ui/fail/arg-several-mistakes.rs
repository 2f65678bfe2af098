//! expect: unknown key `atempts`
//! errors: 5

use std::io;

use reattempt::retry;

#[retry(atempts = 4, timeout = "1.5", jitter = "ful", on = "String", matches = "io::")]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
