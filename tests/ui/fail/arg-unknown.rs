//! expect: unknown key `atempts`

use std::io;

use reattempt::retry;

#[retry(atempts = 4)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
