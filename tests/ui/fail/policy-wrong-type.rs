//! expect: `policy` is a `u32`, expected a `reattempt::Policy`

use std::io;

use reattempt::retry;

const ATTEMPTS: u32 = 4;

#[retry(policy = ATTEMPTS)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
