//! expect: `policy` is given twice

use std::io;

use reattempt::retry;

#[retry(policy = FAST_IO, policy = SLOW_IO)]
async fn fetch() -> io::Result<u8> {
    Ok(0)
}

fn main() {}
